"""The xdist scheduler: all pairs of a video go to one worker, so that a video is decoded once."""

from __future__ import annotations

from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController


def video_of(nodeid: str) -> str:
    """Return what names the video in a node id: the text between the last brackets."""
    return nodeid[nodeid.rfind("[") + 1 : -1] if nodeid.endswith("]") else nodeid


class VideoScheduling(LoadScheduling):
    """Load scheduling in batches of one video.

    A worker always holds at least two items until the end (it needs to know the next one before it finishes one).
    """

    collection: list[str] | None

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Give `node` the next video when it is about to run dry."""
        if node.shutting_down:
            return
        while self.pending and len(self.node2pending[node]) < 2:
            self._send_tests(node, self._batch())
        if not self.pending:
            node.shutdown()

    def _batch(self) -> int:
        """Return how many items at the head of the queue belong to one video."""
        assert self.collection is not None
        first = video_of(self.collection[self.pending[0]])
        size = 1
        while size < len(self.pending) and video_of(self.collection[self.pending[size]]) == first:
            size += 1
        return size

    def schedule(self) -> None:
        """Distribute the collection, or go on with it when a worker was replaced."""
        assert self.collection_is_completed
        if self.collection is None:
            if not self._check_nodes_have_same_collection():
                return
            self.collection = next(iter(self.node2collection.values()))
            self.pending[:] = range(len(self.collection))
            if not self.collection:
                return
        for node in self.nodes:
            self.check_schedule(node)
