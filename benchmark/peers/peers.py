"""
Other solvers that search from a seed, each asked for what makes it meet our tolerances.

Every peer gets the limits of the URDF where it can take limits at all. Settings that differ from
a peer's defaults or examples were chosen in its favour; the reason stands beside them.

"""

import math

from arms import Arm
from fabrik_ros import JointType
from fabrik_ros.transforms import Array, quaternion_xyzw_from_rotation, rotation_z_to, transform
import numpy as np
from solvers import Answer, Solver, TOLERANCE

MOST_STEPS = 200
"""Of the loops that a user of a differential solver writes; those that succeed take about ten."""
MOST_RESTARTS = 1000
"""Of a solver that stops by its time."""
LM_DAMPING = 0.1
"""Times the squared error: the best of 0.01, 0.1 and 1 for mink and for the plain loop."""
FAR = 1e6
"""Limit of joints and speeds that have none, for libraries that want a number."""


class TracIk(Solver):
    """
    TRAC-IK through its bare binding, with the timeout of its documentation.

    It stores the limits of a URDF in single precision, which puts them up to 2e-7 rad outside the
    true ones; so they are set anew. Its tolerance holds for each of three components, so it is
    asked for a little more.
    """

    name = 'TRAC-IK'
    module = 'pytracik'
    threads = 2
    timeout = 5e-3
    """[s]"""

    def __init__(self, arm: Arm) -> None:
        import pytracik

        if arm.mode != 'pose':
            raise ValueError('solves poses only')
        chain = arm.chain
        self._binding = pytracik
        self._solver = pytracik.TRAC_IK(
            chain.base_link,
            chain.tip_link,
            arm.urdf_path.read_text(),
            self.timeout,
            TOLERANCE / math.sqrt(3.0),
            pytracik.SolveType.Speed,
        )
        own_lower = pytracik.get_joint_lower_bounds(self._solver)
        own_upper = pytracik.get_joint_upper_bounds(self._solver)
        lower = np.where(np.isfinite(chain.lower), chain.lower, own_lower)
        upper = np.where(np.isfinite(chain.upper), chain.upper, own_upper)
        pytracik.set_joint_limits(self._solver, lower.tolist(), upper.tolist())

    def prepare(self, target: Array, seed: Array) -> tuple:
        quaternion = quaternion_xyzw_from_rotation(target[:3, :3])
        return self._solver, seed, *target[:3, 3].tolist(), *quaternion.tolist()

    def ask(self, *arguments: object) -> Array:
        return self._binding.ik(*arguments)

    def read(self, raw: Array, seed: Array) -> Answer:
        return Answer(raw[1:], bool(raw[0] >= 0))


class TracIkPatient(TracIk):
    """TRAC-IK with the budget that our solver has."""

    name = 'TRAC-IK, 20 ms'
    timeout = 20e-3


class RoboticsToolbox(Solver):
    """
    Levenberg-Marquardt of the Robotics Toolbox for Python, in C++, with its defaults.

    Its tolerance bounds half the sum of the squared errors. It draws restarts from inside the
    limits, so continuous joints get one turn.
    """

    name = 'RTB ik_LM'
    module = 'roboticstoolbox'

    def __init__(self, arm: Arm) -> None:
        import roboticstoolbox

        if not all(joint.is_revolute for joint in arm.chain.joint_types):
            raise ValueError('written here for hinges only')
        make = roboticstoolbox.ET
        lower, upper = arm.chain.finite_limits()
        sequence = roboticstoolbox.ETS()
        T_z_axis = np.eye(4)
        for j, axis in enumerate(arm.axes):
            T_axis_z = transform(rotation_z_to(axis), np.zeros(3))
            sequence *= make.SE3(T_z_axis @ arm.origins[j] @ T_axis_z)
            sequence *= make.Rz(qlim=[lower[j], upper[j]])
            T_z_axis = T_axis_z.T
        self._sequence = sequence * make.SE3(T_z_axis @ arm.origins[-1])
        self._mask = None if arm.mode == 'pose' else np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])

    def ask(self, target: Array, seed: Array) -> object:
        return self._sequence.ik_LM(
            target, q0=seed, tol=0.5 * TOLERANCE**2, mask=self._mask, joint_limits=True
        )

    def read(self, raw: object, seed: Array) -> Answer:
        return Answer(np.asarray(raw.q), raw.success)


class PyBullet(Solver):
    """
    Bullet's damped least squares, which never says whether it got there.

    Its limits belong to a null space variant that met 1e-6 on no target of four arms, so it goes
    without. So does the default damping: with it half the targets or more stay out of tolerance.
    """

    name = 'pybullet'
    module = 'pybullet'
    damping = 1e-6
    residual_threshold = 1e-7

    def __init__(self, arm: Arm) -> None:
        import pybullet

        self._bullet = pybullet
        self._client = pybullet.connect(pybullet.DIRECT)
        self._body = pybullet.loadURDF(
            str(arm.urdf_path), useFixedBase=True, physicsClientId=self._client
        )
        joints = [
            pybullet.getJointInfo(self._body, j, physicsClientId=self._client)
            for j in range(pybullet.getNumJoints(self._body, physicsClientId=self._client))
        ]
        self._moving = [joint[0] for joint in joints if joint[2] != pybullet.JOINT_FIXED]
        self._tip = len(joints) - 1
        self._damping = [self.damping] * len(self._moving)
        self._with_rotation = arm.mode == 'pose'

    def prepare(self, target: Array, seed: Array) -> tuple:
        pose = [target[:3, 3].tolist()]
        if self._with_rotation:
            pose.append(quaternion_xyzw_from_rotation(target[:3, :3]).tolist())
        return pose, seed.tolist()

    def ask(self, pose: list, seed: list[float]) -> tuple[float, ...]:
        for joint, value in zip(self._moving, seed, strict=True):
            self._bullet.resetJointState(self._body, joint, value, physicsClientId=self._client)
        return self._bullet.calculateInverseKinematics(
            self._body,
            self._tip,
            *pose,
            jointDamping=self._damping,
            maxNumIterations=MOST_STEPS,
            residualThreshold=self.residual_threshold,
            physicsClientId=self._client,
        )

    def read(self, raw: tuple[float, ...], seed: Array) -> Answer:
        return Answer(np.array(raw), None)


class IkPy(Solver):
    """IKPy, which leaves the work to scipy's least squares and never says how it went."""

    name = 'IKPy'
    module = 'ikpy'
    most = 500

    def __init__(self, arm: Arm) -> None:
        import ikpy.chain

        path, base_link = str(arm.urdf_path), arm.chain.base_link
        links = ikpy.chain.Chain.from_urdf_file(path, base_elements=[base_link]).links
        moves = [link.name in arm.chain.joint_names for link in links]
        self._chain = ikpy.chain.Chain(links, active_links_mask=moves)
        self._moving = np.flatnonzero(moves)
        self._orientation = 'all' if arm.mode == 'pose' else None

    def prepare(self, target: Array, seed: Array) -> tuple:
        values = np.zeros(len(self._chain.links))
        values[self._moving] = seed
        return target, values

    def ask(self, target: Array, values: Array) -> Array:
        return self._chain.inverse_kinematics_frame(
            target, initial_position=values, orientation_mode=self._orientation, tol=1e-12
        )

    def read(self, raw: Array, seed: Array) -> Answer:
        return Answer(np.asarray(raw)[self._moving], None)


class PinocchioLoop(Solver):
    """
    The loop of pinocchio's example "inverse kinematics", in Python.

    Unlike there it takes whole steps, its damping fades with the error, and values are clipped to
    the limits. As written there (steps of 0.1, no limits) it solved 18 % of the targets of a UR5
    and 43 % of a Panda's, and took ten times as long.
    """

    name = 'pinocchio, loop'
    module = 'pinocchio'
    most = 2000

    def __init__(self, arm: Arm) -> None:
        import pinocchio

        self._pinocchio = pinocchio
        self._model = pinocchio_model(arm)
        self._data = self._model.createData()
        self._tip = self._model.getFrameId('tip')
        self._size = 6 if arm.mode == 'pose' else 3

    def prepare(self, target: Array, seed: Array) -> tuple:
        return self._pinocchio.SE3(target), seed

    def ask(self, target: object, seed: Array) -> tuple[Array, bool]:
        pinocchio, model, data, size = self._pinocchio, self._model, self._data, self._size
        q = seed
        for _ in range(MOST_STEPS):
            pinocchio.framesForwardKinematics(model, data, q)
            T_tip_target = data.oMf[self._tip].actInv(target)
            error = pinocchio.log(T_tip_target).vector[:size]
            if is_small(error):
                return q, True
            J = pinocchio.computeFrameJacobian(model, data, q, self._tip)
            J = pinocchio.Jlog6(T_tip_target.inverse())[:size] @ J
            damping = LM_DAMPING * (error @ error) + 1e-12
            q = q + J.T @ np.linalg.solve(J @ J.T + damping * np.eye(size), error)
            q = np.clip(q, model.lowerPositionLimit, model.upperPositionLimit)
        return q, False

    def read(self, raw: tuple[Array, bool], seed: Array) -> Answer:
        return Answer(*raw)


class Pink(Solver):
    """Differential inverse kinematics of pink, repeated until it arrives."""

    name = 'pink, loop'
    module = 'pink'
    most = 1000

    def __init__(self, arm: Arm) -> None:
        import pink
        import pinocchio
        import qpsolvers

        require_daqp(qpsolvers)
        self._pink, self._pinocchio = pink, pinocchio
        model = pinocchio_model(arm)
        self._configuration = pink.Configuration(model, model.createData(), np.zeros(model.nq))
        self._task = pink.tasks.FrameTask(
            'tip',
            position_cost=1.0,
            orientation_cost=1.0 if arm.mode == 'pose' else 0.0,
            lm_damping=LM_DAMPING,
        )
        self._size = 6 if arm.mode == 'pose' else 3

    def prepare(self, target: Array, seed: Array) -> tuple:
        return self._pinocchio.SE3(target), seed

    def ask(self, target: object, seed: Array) -> tuple[Array, bool]:
        configuration, task = self._configuration, self._task
        configuration.update(seed)
        task.set_target(target)
        for _ in range(MOST_STEPS):
            if is_small(task.compute_error(configuration)[: self._size]):
                return configuration.q, True
            try:
                velocity = self._pink.solve_ik(
                    configuration, [task], 1.0, 'daqp', safety_break=False
                )
            except self._pink.exceptions.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q, False

    def read(self, raw: tuple[Array, bool], seed: Array) -> Answer:
        return Answer(*raw)


class Mink(Solver):
    """Differential inverse kinematics of mink, repeated until it arrives."""

    name = 'mink, loop'
    module = 'mink'
    most = 1000

    def __init__(self, arm: Arm) -> None:
        import mink
        import mujoco
        import qpsolvers

        require_daqp(qpsolvers)
        self._mink = mink
        # MuJoCo would melt fixed links, the tip among them, into those they hang on.
        options = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
        text = arm.urdf_path.read_text().replace('</robot>', options)
        model = mujoco.MjModel.from_xml_string(text)
        self._configuration = mink.Configuration(model)
        self._limits = [mink.ConfigurationLimit(model)]
        self._task = mink.FrameTask(
            arm.chain.tip_link,
            'body',
            position_cost=1.0,
            orientation_cost=1.0 if arm.mode == 'pose' else 0.0,
            lm_damping=LM_DAMPING,
        )
        self._size = 6 if arm.mode == 'pose' else 3

    def prepare(self, target: Array, seed: Array) -> tuple:
        return self._mink.SE3.from_matrix(target), seed

    def ask(self, target: object, seed: Array) -> tuple[Array, bool]:
        configuration, task = self._configuration, self._task
        configuration.update(seed)
        task.set_target(target)
        for _ in range(MOST_STEPS):
            if is_small(task.compute_error(configuration)[: self._size]):
                return configuration.q.copy(), True
            try:
                velocity = self._mink.solve_ik(
                    configuration, [task], 1.0, 'daqp', limits=self._limits
                )
            except self._mink.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q.copy(), False

    def read(self, raw: tuple[Array, bool], seed: Array) -> Answer:
        return Answer(*raw)


class RoboPlan(Solver):
    """
    `SimpleIk` of RoboPlan, asked for our tolerances, with the budget that our solver has.

    By default it is content with 1 mm after 5 ms and two restarts. Half steps solved more than its
    quarter ones and than whole ones, and a hundred of them more than 30, 50 or 200.
    """

    name = 'RoboPlan SimpleIk'
    module = 'roboplan'

    def __init__(self, arm: Arm) -> None:
        from roboplan import core, simple_ik

        if arm.mode != 'pose':
            raise ValueError('solves poses only')
        if JointType.CONTINUOUS in arm.chain.joint_types:
            raise ValueError('a continuous joint has two values there')
        chain, self._core = arm.chain, core
        description = core.loadUrdfSceneDescription(arm.urdf_path, [arm.urdf_path.parent])
        scene = core.Scene(arm.name, description)
        scene.addGroup('arm', list(chain.joint_names))
        options = simple_ik.SimpleIkOptions(
            'arm', max_iters=100, max_time=20e-3, max_restarts=MOST_RESTARTS, step_size=0.5,
            max_linear_error_norm=TOLERANCE, max_angular_error_norm=TOLERANCE,
            check_collisions=False,
        )  # fmt: skip
        self._solver = simple_ik.SimpleIk(scene, options)
        self._links = chain.base_link, chain.tip_link
        self._names = list(chain.joint_names)
        if list(scene.getJointNames()) != self._names:
            raise ValueError('has the joints in another order')

    def prepare(self, target: Array, seed: Array) -> tuple:
        core = self._core
        goal = core.CartesianConfiguration(*self._links, np.asfortranarray(target))
        start, found = (core.JointConfiguration(self._names, seed) for _ in range(2))
        return goal, start, found

    def ask(self, goal: object, start: object, found: object) -> tuple:
        return self._solver.solveIk(goal, start, found), found

    def read(self, raw: tuple, seed: Array) -> Answer:
        is_met, found = raw
        return Answer(np.array(found.positions), is_met)


def is_small(error: Array) -> bool:
    """Whether a position error (3,), or that and a rotation vector (6,), is in tolerance."""
    apart, turned = error[:3], error[3:]
    return math.sqrt(apart @ apart) <= TOLERANCE and math.sqrt(turned @ turned) <= TOLERANCE


def pinocchio_model(arm: Arm) -> object:
    """
    Build the arm for pinocchio, with one number for each joint and a frame named 'tip'.

    From a URDF pinocchio would keep cosine and sine of a continuous joint.
    """
    import pinocchio

    model = pinocchio.Model()
    parent = 0
    for j, name in enumerate(arm.chain.joint_names):
        hinge = arm.chain.joint_types[j].is_revolute
        kind = 'JointModelRevoluteUnaligned' if hinge else 'JointModelPrismaticUnaligned'
        joint = getattr(pinocchio, kind)(*arm.axes[j])
        lower, upper = np.clip([arm.chain.lower[j], arm.chain.upper[j]], -FAR, FAR)
        effort, speed = np.array([FAR]), np.array([FAR])
        parent = model.addJoint(
            parent, joint, pinocchio.SE3(arm.origins[j]), name,
            effort, speed, np.array([lower]), np.array([upper]),
        )  # fmt: skip
    T_joint_tip = pinocchio.SE3(arm.origins[-1])
    model.addFrame(pinocchio.Frame('tip', parent, T_joint_tip, pinocchio.FrameType.OP_FRAME))
    return model


def require_daqp(qpsolvers: object) -> None:
    if 'daqp' not in qpsolvers.available_solvers:
        raise ImportError('needs the QP solver daqp')


SEEDED = (
    TracIk,
    TracIkPatient,
    RoboticsToolbox,
    PyBullet,
    PinocchioLoop,
    Pink,
    Mink,
    IkPy,
    RoboPlan,
)
