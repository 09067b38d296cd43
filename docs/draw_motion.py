"""
Draw the pictures of the README: a simulated arm between obstacles, as the library moves it.

    make figures

The obstacles and targets are those of `make demo SCENE=obstacles`, and so are the speeds; the arm
is moved by `ArmFollower`, step by step, so that the same film comes out each time. The still
picture is of the first program of `make demo SCENE=program`.

"""

from dataclasses import dataclass
from itertools import islice
import math
from pathlib import Path
import sys
import xml.etree.ElementTree as ET

from fabrik_ros import (
    ArmFollower,
    example_arm,
    FollowerOptions,
    load_urdf,
    plan_program,
    Robot,
)
from fabrik_ros.collision import link_poses, load_scene, WorldCollision
from fabrik_ros.planning import PlannerSetup
from fabrik_ros.transforms import Array, rotation_from_rpy, transform
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
import numpy as np
import painter
from PIL import Image
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'demo'))
from targets import between_obstacles, programs

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).resolve().parent / 'figures'
FILM, STILL = FIGURES / 'demo.gif', FIGURES / 'program.png'
SIZE = 640, 400
"""[pixel]"""
SHARPER = 2
"""Pictures are drawn so many times larger, and then made smaller [1]."""
PERIOD, STEPS = 0.01, 8
"""Time between two commands [s], and commands between two pictures [1]."""
PAUSE = 0.6
"""How long the arm rests at a target [s]."""
START = {
    'shoulder_pan': -2.34, 'shoulder_lift': -2.47, 'elbow': -1.09, 'wrist_1': 1.99,
    'wrist_2': -1.57, 'wrist_3': 2.1,
}  # fmt: skip
"""Beside the wall [rad]."""
TARGETS = 1, 4
"""Which targets of the demo the arm goes to, and then back to the start for the next round."""
BEFORE_SEAM = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
"""Where the arm is before the seam [rad]."""
SHOWN_SEGMENT = 4
"""Number of the segment of the seam that the arm is on in the still picture, from 0 on."""
CAMERA = painter.Camera((-1.5, -1.1, 1.2), (0.3, -0.03, 0.49), 1.0, SIZE)
SEAM_CAMERA = painter.Camera((1.35, 1.35, 0.95), (0.3, 0.16, 0.3), 1.0, SIZE)
TABLE, WOOD = (0.86, 0.84, 0.8), (0.78, 0.6, 0.4)
PATH, AXES = (0.2, 0.95, 0.45), ((1.0, 0.25, 0.2), (0.3, 0.95, 0.3), (0.25, 0.5, 1.0))
INK, BACKGROUND = '#20262e', '#f3f5f7'
COLOR_COUNT = 160
COLORS = {'MOVING': '#1f6feb', 'REACHED': '#1a7f37'}


@dataclass(frozen=True, eq=False)
class Moment:
    """What one picture shows."""

    q: Array
    """Joint values, shape (n,) [rad]."""
    path: Array
    """Points of the tip on the path ahead, shape (m, 3) [m]."""
    target: Array | None
    """T_base_target, shape (4, 4); None on the way back."""
    state: str


def film(follower: ArmFollower) -> list[Moment]:
    """Move the arm from target to target and back, as the node would."""
    q = np.array([START[name] for name in follower.arm.joint_names])
    q = follower.step(None, PERIOD, measured=q)
    poses = list(islice(between_obstacles(follower.arm), max(TARGETS) + 1))
    moments: list[Moment] = []
    for target in (*(poses[number] for number in TARGETS), START):
        shown = None if target is START else target
        step, rested = 0, 0.0
        while rested < PAUSE:
            q = follower.step(target if step == 0 else None, PERIOD, measured=q)
            rested = rested + PERIOD if follower.at_target else 0.0
            if step % STEPS == 0:
                moments.append(Moment(q, ahead(follower, q), shown, follower.state.name))
            step += 1
    return moments


def ahead(follower: ArmFollower, q: Array) -> Array:
    """Points of the tip on what is left of the path, shape (m, 3) [m]."""
    points = follower.planned_path[:, 0, :3, 3]
    if follower.at_target or len(points) == 0:
        return np.empty((0, 3))
    here = follower.arm.forward_kinematics(q)[:3, 3]
    nearest = int(np.argmin(np.linalg.norm(points - here, axis=1)))
    return np.vstack([here, points[nearest + 1 :]])


def at_the_seam(follower: ArmFollower, world: WorldCollision) -> Moment:
    """Show the arm amid the first program of the demo."""
    arm = follower.arm
    way = plan_program(arm, BEFORE_SEAM, next(programs(arm)), world, motion=follower.options)
    points = np.array([arm.tip_poses(q)[0, :3, 3] for q in way.q[::4]])
    i = int(np.argmax(way.segments == SHOWN_SEGMENT))
    return Moment(way.q[i], points, None, 'MOVING')


def links_of(robot: Robot) -> dict[str, painter.Faces]:
    """Cut what is seen of each link into faces, in the frame of the link."""
    document = ET.fromstring(robot.source)
    colors = {
        material.get('name'): numbers(material.find('color').get('rgba'))[:3]
        for material in document.iter('material')
        if material.find('color') is not None
    }
    links = {}
    for link in document.iter('link'):
        parts = []
        for visual in link.iter('visual'):
            solid, origin = visual.find('geometry/cylinder'), visual.find('origin')
            color = colors[visual.find('material').get('name')]
            rpy, xyz = numbers(origin.get('rpy')), numbers(origin.get('xyz'))
            faces = painter.cylinder(
                float(solid.get('radius')), float(solid.get('length')), tuple(color)
            )
            parts.append(faces.moved(transform(rotation_from_rpy(*rpy), xyz)))
        if parts:
            links[link.get('name')] = painter.joined(parts)
    return links


def numbers(text: str) -> Array:
    """Read numbers with spaces between them."""
    return np.array([float(word) for word in text.split()])


class Studio:
    """
    Draws moments.

    Parameters
    ----------
    robot : Robot
        The arm.
    world : WorldCollision
        What stands around, and how near that is.

    """

    def __init__(self, robot: Robot, world: WorldCollision) -> None:
        self.robot, self.world, self._links = robot, world, links_of(robot)
        self._names = robot.chain().joint_names
        solids = {
            o.name: (painter.box(o.shape.size, WOOD).moved(o.T_link_obstacle), o)
            for o in world.scene
        }
        table, board = solids.pop('table')
        self._table = painter.Faces(table.corners, np.tile(TABLE, (len(table.corners), 1)))
        self._around = painter.joined([faces for faces, _ in solids.values()])
        half = 0.5 * np.array(board.shape.size)
        signs = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
        self._ground = board.T_link_obstacle[:3, 3] + half * signs

    def draw(self, moment: Moment, camera: painter.Camera = CAMERA) -> Image.Image:
        """Draw a moment."""
        width, height = SIZE
        figure = Figure(figsize=(width / 100, height / 100), dpi=100 * SHARPER)
        canvas = FigureCanvasAgg(figure)
        figure.set_facecolor(BACKGROUND)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.axis('off')
        arm = self._arm(moment.q)
        painter.paint(axes, camera, self._table)
        standing = painter.joined([arm, self._around])
        painter.paint_shadows(axes, camera, standing, self._ground, TABLE)
        signs = self._signs(moment)
        painter.paint(axes, camera, painter.joined([standing, *signs]))
        self._write(axes, moment)
        canvas.draw()
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')
        return picture.resize(SIZE, Image.Resampling.LANCZOS)

    def _arm(self, q: Array) -> painter.Faces:
        values = dict(zip(self._names, q.tolist(), strict=True))
        root = self.robot.root_link
        return painter.joined(
            [
                faces.moved(self.robot.pose(root, link, values))
                for link, faces in self._links.items()
            ]
        )

    def _signs(self, moment: Moment) -> list[painter.Faces]:
        """Draw the path ahead and the target."""
        signs = [painter.tube(moment.path, 0.005, PATH)]
        if moment.target is not None:
            T = moment.target
            for axis, color in zip(T[:3, :3].T, AXES, strict=True):
                signs.append(painter.tube(T[:3, 3] + np.outer([0.0, 0.09], axis), 0.006, color))
        return signs

    def _write(self, axes: Axes, moment: Moment) -> None:
        """Say what the arm does, and what is nearest."""
        color = COLORS.get(moment.state, INK)
        axes.text(16, 16, moment.state, color=color, weight='bold', fontsize=13)
        nearest = self.world.distance(moment.q)
        text = f'nearest: {1000 * nearest.distance:.0f} mm, {nearest.link_a}, {nearest.link_b}'
        axes.text(624, 16, text, color=INK, fontsize=10, ha='right')


def save(pictures: list[Image.Image]) -> None:
    """Write the film, with the same colors in all its pictures."""
    some = [*pictures[:: max(1, len(pictures) // 12)], swatches()]
    wall = Image.new('RGB', (SIZE[0], SIZE[1] * len(some)))
    for number, picture in enumerate(some):
        wall.paste(picture, (0, SIZE[1] * number))
    palette = wall.quantize(COLOR_COUNT, method=Image.Quantize.MEDIANCUT)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    frames[0].save(
        FILM,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 * STEPS * PERIOD),
        loop=0,
        optimize=True,
    )


def swatches() -> Image.Image:
    """Draw the colors of what is small, so that they get their places among the colors."""
    shades = np.linspace(painter.AMBIENT, 1.0, 4)[:, None, None] * np.array([PATH, *AXES])
    texts = np.array([to_rgb(color) for color in (*COLORS.values(), INK, BACKGROUND)])
    table = np.concatenate([shades, texts[None]])
    colors = Image.fromarray((255.0 * np.clip(table, 0.0, 1.0)).astype(np.uint8))
    return colors.resize(SIZE, Image.Resampling.NEAREST)


def stage() -> tuple[ArmFollower, Studio]:
    """Set up the arm and what draws it."""
    robot = load_urdf(example_arm('six_axis'))
    settings = yaml.safe_load((ROOT / 'demo' / 'demo.yaml').read_text())['/**']['ros__parameters']
    chain = robot.chain(settings.pop('base_link'), settings.pop('tip_link'))
    scene = load_scene(ROOT / 'demo' / 'obstacles.yaml', link_poses(robot))
    options = FollowerOptions(**settings, stream_timeout=0.5 * PAUSE)
    follower = ArmFollower(chain, options, robot=robot, scene=scene, looking_time=math.inf)
    return follower, Studio(robot, PlannerSetup(robot, chain, checks_links=False).world(scene))


def main() -> None:
    """Draw the film."""
    follower, studio = stage()
    studio.draw(at_the_seam(follower, studio.world), SEAM_CAMERA).save(STILL)
    save([studio.draw(moment) for moment in film(follower)])
    print(f'The moving picture is {FILM}, the still one {STILL}.')


if __name__ == '__main__':
    main()
