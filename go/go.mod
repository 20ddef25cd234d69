// The project has no address yet; when it has, this path becomes it, and so do the imports of ../go.
module example.org/zariz

go 1.24
