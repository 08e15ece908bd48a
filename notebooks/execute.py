"""Runs a notebook from top to bottom: python3 notebooks/execute.py NOTEBOOK [OUT]

The packages come from the folder in SURAKARTA_PYTHON_PATH or else from `.python` in the checkout,
where `cargo xtask python` puts them. A notebook finds its run directory in SURAKARTA_RUN.
With OUT, the notebook with its results is written there; NOTEBOOK itself is never changed.

Exit status: 0 every cell ran, 1 a cell raised (its traceback is on standard error),
2 wrong usage, 3 the packages are not there.
"""

import os
import re
import sys
import tempfile

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def fail(status, sentence):
    print("error: " + sentence, file=sys.stderr)
    sys.exit(status)


def packages():
    """Makes the packages importable, here and in the kernel."""
    folder = os.environ.get("SURAKARTA_PYTHON_PATH") or os.path.join(CHECKOUT, ".python")
    if not os.path.isdir(folder):
        fail(3, "The packages for notebooks are missing: run `cargo xtask python`.")
    folder = os.path.realpath(folder)
    sys.path.insert(0, folder)
    old = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = folder + (os.pathsep + old if old else "")


def execute(path, scratch):
    """The notebook after every cell ran."""
    # Nothing of the user's Jupyter is read, nothing is written to their home.
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        os.environ[variable] = os.path.join(scratch, variable)
        os.makedirs(os.environ[variable])
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    folder = os.path.dirname(os.path.abspath(path))
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=600, resources={"metadata": {"path": folder}}
    )
    # Without folders to look in, the kernel is ipykernel under this very Python.
    client.create_kernel_manager().kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    client.execute()
    return notebook


def main(arguments):
    if len(arguments) not in (1, 2):
        fail(2, "Usage: python3 notebooks/execute.py NOTEBOOK [OUT]")
    path, out = arguments[0], arguments[1:]
    if not os.path.isfile(path):
        fail(2, "There is no notebook %s." % path)
    packages()
    try:
        import nbformat
        from nbclient.exceptions import CellExecutionError
    except ImportError as error:
        fail(3, "A package for notebooks does not load (%s): run `cargo xtask python`." % error)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            notebook = execute(path, scratch)
        except CellExecutionError as error:
            print(COLOUR.sub("", str(error)), file=sys.stderr)
            fail(1, "A cell of %s raised." % path)
    for target in out:
        nbformat.write(notebook, target)


if __name__ == "__main__":
    main(sys.argv[1:])
