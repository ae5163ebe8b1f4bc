"""What `--on ray` opens: the launchers that share the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from assay.launch.pool import InterpreterOf
from assay.launch.ray.cluster import RayCluster
from assay.launch.ray.head import demand_listening
from assay.launch.ray.ray_pool import RayPool
from assay.launch.watch import Watch


class RayLaunchers:
    """Implements `ports.Launchers` and `ports.SharesFiles`."""

    def __init__(
        self,
        address: str,
        workers: int,
        recycle: int,
        interpreter: InterpreterOf,
        watch: Watch,
        flows: Sequence[str] = (),
    ) -> None:
        self._address = address
        self._cluster = RayCluster(address, workers, recycle, interpreter, watch, flows)

    def share_by(self, store: str, files: Sequence[str] = ()) -> None:
        """See `ports.SharesFiles`."""
        self._cluster.share_by(store, files)

    def __enter__(self) -> tuple[RayPool, RayPool]:
        demand_listening(self._address)
        self._cluster.begin()
        return RayPool(self._cluster), RayPool(self._cluster, alone=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.close()
