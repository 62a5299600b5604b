"""The base of generators: what it says of methods that a generator must have."""
import abc


class Generator(abc.ABC):
    returns_id = False

    @abc.abstractmethod
    def __init__(self, vocs, *args, **kwargs):
        self._validate_vocs(vocs)

    @abc.abstractmethod
    def _validate_vocs(self, vocs):
        """ValueError for a problem that the generator can't take."""

    @abc.abstractmethod
    def suggest(self, num_points=None):
        """A list of points, dictionaries by the names of variables and constants."""

    def ingest(self, results):
        """Results: points with all outputs."""

    def finalize(self):
        """The end."""
