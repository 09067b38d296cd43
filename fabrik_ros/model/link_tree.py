"""Links and the joints between them: a tree with one root."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .joints import Joint


@dataclass(frozen=True, eq=False)
class LinkTree:
    """A tree of links; its maker guarantees one root, no cycles and unique names."""

    name: str
    links: tuple[str, ...]
    joints: tuple[Joint, ...]

    @cached_property
    def parent_joint(self) -> Mapping[str, Joint]:
        """The joint above each link; the root link has none."""
        return {joint.child: joint for joint in self.joints}

    @cached_property
    def child_joints(self) -> Mapping[str, tuple[Joint, ...]]:
        """The joints below each link."""
        below: dict[str, list[Joint]] = {link: [] for link in self.links}
        for joint in self.joints:
            below[joint.parent].append(joint)
        return {link: tuple(joints) for link, joints in below.items()}

    @cached_property
    def root_link(self) -> str:
        """The link above all others."""
        return next(link for link in self.links if link not in self.parent_joint)
