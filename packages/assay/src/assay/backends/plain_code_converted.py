"""The lines of Python that call MNN and ncnn without Assay (see `ports.ShowsPlainUse`): a converter, and an engine for what it wrote."""

from __future__ import annotations

_MNN = """def run(model, inputs):
    import subprocess
    import sys
    import tempfile
    import MNN
    import onnx
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{{folder}}/model.onnx")
        # As the program mnnconvert does, which installs a package with pip first.
        program = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
        said = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "repro", *{said!r}]
        subprocess.run([sys.executable, "-P", "-c", program, *said], cwd=folder, capture_output=True, check=True)
{engine}"""

_SESSION = """        net = MNN.Interpreter(f"{{folder}}/model.mnn")
{hint}    session = net.createSession({{"numThread": {threads}, "precision": {arithmetic!r}}})
    fed = {{name: array for name, array in inputs.items() if name in net.getSessionInputAll(session)}}
    # MNN has no 64-bit integers and no bool.
    fed |= {{name: array.astype(np.int32) for name, array in fed.items() if array.dtype.name in ("int64", "bool")}}
    for name, array in fed.items():
        net.resizeTensor(net.getSessionInput(session, name), array.shape)
    net.resizeSession(session)
    types = {{"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int, "uint8": MNN.Halide_Type_Uint8}}
    for name, array in fed.items():
        host = MNN.Tensor(array.shape, types[array.dtype.name], np.ascontiguousarray(array), MNN.Tensor_DimensionType_Caffe)
        net.getSessionInput(session, name).copyFrom(host)
    net.runSession(session)
    given = {{}}
    for value in model.graph.output:
        tensor = net.getSessionOutput(session, value.name)
        kind, shape = tensor.getDataType(), tensor.getShape()
        dtype = next((name for name, code in types.items() if code == kind), "float32")
        host = MNN.Tensor(shape, kind, np.zeros(shape, dtype), MNN.Tensor_DimensionType_Caffe)
        tensor.copyToHostTensor(host)
        given[value.name] = np.array(host.getNumpyData(), dtype).reshape(shape)
    return given
"""

_NO_WINOGRAD = "    net.setSessionHint(3, 0)  # no convolution by Winograd's algorithm\n"

_NCNN = """def run(model, inputs):
    import pathlib
    import re
    import subprocess
    import tempfile
    import ncnn
    import onnx
    from pnnx import EXEC_PATH
    names = [value.name for value in model.graph.input]
    kinds = {{"float32": "f32", "int32": "i32", "int64": "i64"}}
    shapes = ["[" + ",".join(map(str, inputs[name].shape)) + "]" + kinds[inputs[name].dtype.name] for name in names]
    said = ["model.onnx", "inputshape=" + ",".join(shapes), "fp16={half:d}", "optlevel={level}"]
    net = ncnn.Net()
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = {half}
    net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    net.opt.use_winograd_convolution = {winograd}
    net.opt.use_sgemm_convolution = {sgemm}
    net.opt.use_packing_layout = {packing}
    net.opt.num_threads = {threads}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(model, folder / "model.onnx")
        subprocess.run([EXEC_PATH, *said], cwd=folder, capture_output=True, check=True)
        written = (folder / "model_ncnn.py").read_text()
        net.load_param(str(folder / "model.ncnn.param"))
        net.load_model(str(folder / "model.ncnn.bin"))

    def axis(pattern):
        \"\"\"The batch, as pnnx found it: told by the example that it writes; 233 is none.\"\"\"
        found = re.search(pattern, written)
        return {{}} if found is None or int(found[1]) == 233 else {{"batch_index": int(found[1])}}

    given = {{}}
    with net.create_extractor() as extractor:
        for at, name in enumerate(names):
            array = inputs[name].astype(np.int32) if inputs[name].dtype == np.int64 else inputs[name]
            at_batch = axis(rf'"in{{at}}", ncnn\\.Mat\\(.*?batch_index=(\\d+)')
            extractor.input(f"in{{at}}", ncnn.Mat(np.ascontiguousarray(array), **at_batch).clone())
        for at, value in enumerate(model.graph.output):
            mat = extractor.extract(f"out{{at}}")[1]
            given[value.name] = np.array(mat.numpy(**axis(rf'"out{{at}}"\\)\\n.*?\\.numpy\\(batch_index=(\\d+)')))
    return given
"""


def mnn_code(weights: tuple[str, ...], arithmetic: str, threads: int, *, winograd: bool) -> str:
    """Converted with these arguments, run by a session."""
    arguments = ["--keepInputFormat", "--useOriginRNNImpl", *weights]
    engine = _SESSION.format(hint="" if winograd else _NO_WINOGRAD, threads=threads, arithmetic=arithmetic)
    return _MNN.format(said=arguments, engine=engine)


def ncnn_code(level: int, threads: int, *, half: bool, winograd: bool, sgemm: bool, packing: bool) -> str:
    """Converted by pnnx for the shapes of the inputs."""
    return _NCNN.format(level=level, threads=threads, half=half, winograd=winograd, sgemm=sgemm, packing=packing)
