"""From robot.toml to the source that it names, and the robot's copy of its repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_zoo.robot.config import RobotConfig
from assay_zoo.robot.config_schema import GithubTable, GitlabTable
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.sources.git_poll import GitPoll
from assay_zoo.robot.sources.source import Source


def open_source(config: RobotConfig) -> tuple[Source, Mirror]:
    """Nothing is asked of the network yet."""
    secret = config.source_secret
    if isinstance(config.source, GithubTable):
        from assay_zoo.robot.sources.github import Github

        assert secret is not None
        forge = Github(config.source, secret.reveal(), branch=config.zoo.branch)
        return forge, _mirror(config, lambda: forge.credentials(config.zoo.repository))
    if isinstance(config.source, GitlabTable):
        from assay_zoo.robot.sources.gitlab import Gitlab

        assert secret is not None
        lab = Gitlab(config.source, secret.reveal(), branch=config.zoo.branch)
        return lab, _mirror(config, lambda: lab.credentials(config.zoo.repository))
    mirror = _mirror(config, dict)
    return GitPoll(config.source, mirror, config.zoo.repository), mirror


def _mirror(config: RobotConfig, credentials: Callable[[], Mapping[str, str]]) -> Mirror:
    return Mirror(
        config.data / "mirror.git",
        config.zoo.repository,
        branch=config.zoo.branch,
        committer=config.zoo.committer,
        credentials=credentials,
        fetch_s=config.limits.fetch_s,
    )
