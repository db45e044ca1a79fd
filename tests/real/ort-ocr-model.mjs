// The two models of ort-ocr.mjs, in the shapes of today's OCR pipelines, with random weights:
//   detector.onnx    a mobile convolutional net with a feature pyramid: image -> map of text
//   recognizer.onnx  convolutions, a bidirectional LSTM, 6,625 classes: line images -> characters
// Random weights allocate as trained ones do: sizes follow from shapes alone.
// Usage: node ort-ocr-model.mjs DIR
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { random } from './random.mjs';

// --- protobuf: what ONNX needs of its wire format --------------------------------------------------------------

function varint(value) {
    const bytes = [];
    for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
        const low = Number(rest & 0x7fn);
        if (rest < 0x80n) return Buffer.from([...bytes, low]);
        bytes.push(low | 0x80);
    }
}

const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);

function bytes(field, value) {
    const content = Buffer.isBuffer(value) ? value : Buffer.from(value);
    return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

function float(field, value) {
    const content = Buffer.alloc(4);
    content.writeFloatLE(value);
    return Buffer.concat([varint(field * 8 + 5), content]);
}

const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

// --- ONNX (field numbers: onnx.proto) --------------------------------------------------------------------------

const FLOAT = 1, INT64 = 7;

function tensor(name, type, dims, content) {
    return message(5, ...dims.map((dim) => number(1, dim)), number(2, type), bytes(8, name), bytes(9, content));
}

function attribute(name, value) {
    const kinds = {
        string: (text) => [bytes(4, text), number(20, 3)],
        number: (integer) => [number(3, integer), number(20, 2)],
        object: (list) => [...list.map((integer) => number(8, integer)), number(20, 7)],
    };
    return message(5, bytes(1, name), ...kinds[typeof value](value));
}

/** An input or output (field 11 or 12); a dimension that is text is free. */
function valueInfo(field, name, dims) {
    const shape = dims.map((dim) => message(1, typeof dim === 'string' ? bytes(2, dim) : number(1, dim)));
    return message(field, bytes(1, name), message(2, message(1, number(1, FLOAT), message(2, ...shape))));
}

/** A graph in the making: each operation returns the name of what it makes. */
class Graph {
    constructor(name, seed) {
        this.name = name;
        this.random = random(seed);
        this.count = 0;
        this.nodes = [];
        this.tensors = [];
    }

    weights(dims, fanIn) {
        const name = `w${this.tensors.length}`, scale = Math.sqrt(6 / fanIn);
        const values = new Float32Array(dims.reduce((a, b) => a * b));
        for (let i = 0; i < values.length; i++) values[i] = this.random.signed() * scale;
        this.tensors.push(tensor(name, FLOAT, dims, Buffer.from(values.buffer)));
        return name;
    }

    floats(values) {
        const name = `w${this.tensors.length}`;
        this.tensors.push(tensor(name, FLOAT, [values.length], Buffer.from(Float32Array.from(values).buffer)));
        return name;
    }

    integers(values) {
        const name = `w${this.tensors.length}`;
        this.tensors.push(tensor(name, INT64, [values.length], Buffer.from(BigInt64Array.from(values, BigInt).buffer)));
        return name;
    }

    node(type, inputs, attributes = {}, output = `t${this.count++}`) {
        const outputs = Array.isArray(output) ? output : [output];
        this.nodes.push(message(1, ...inputs.map((input) => bytes(1, input)),
            ...outputs.map((made) => bytes(2, made)), bytes(3, `${type}_${this.nodes.length}`), bytes(4, type),
            ...Object.entries(attributes).map(([key, value]) => attribute(key, value))));
        return output;
    }

    conv(input, from, to, { kernel = 3, stride = [1, 1], groups = 1 } = {}) {
        const pad = (kernel - 1) / 2;
        const weights = this.weights([to, from / groups, kernel, kernel], (from / groups) * kernel * kernel);
        return this.node('Conv', [input, weights, this.weights([to], 1e4)],
            { kernel_shape: [kernel, kernel], strides: stride, pads: [pad, pad, pad, pad], group: groups });
    }

    relu(input) {
        return this.node('Relu', [input]);
    }

    hardSwish(input) {
        return this.node('Mul', [input, this.node('HardSigmoid', [input])]);
    }

    /** Squeeze and excite: one weight a channel, from the means of all. */
    excite(input, channels) {
        const mean = this.node('GlobalAveragePool', [input]);
        const less = this.relu(this.conv(mean, channels, channels / 4, { kernel: 1 }));
        const gate = this.node('HardSigmoid', [this.conv(less, channels / 4, channels, { kernel: 1 })]);
        return this.node('Mul', [input, gate]);
    }

    /** MobileNetV3's block: widen, filter each channel, weigh, narrow; added to its input where it fits. */
    block(input, from, to, { stride = [1, 1], widen = 2, kernel = 3 } = {}) {
        const wide = from * widen;
        const widened = this.hardSwish(this.conv(input, from, wide, { kernel: 1 }));
        const filtered = this.hardSwish(this.conv(widened, wide, wide, { kernel, stride, groups: wide }));
        const narrow = this.conv(this.excite(filtered, wide), wide, to, { kernel: 1 });
        return from === to && stride.every((step) => step === 1) ? this.node('Add', [input, narrow]) : narrow;
    }

    enlarge(input, factor) {
        return this.node('Resize', [input, '', this.floats([1, 1, factor, factor])],
            { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' });
    }

    enlargeByConv(input, from, to) {
        return this.node('ConvTranspose', [input, this.weights([from, to, 2, 2], from), this.weights([to], 1e4)],
            { kernel_shape: [2, 2], strides: [2, 2] });
    }

    model(inputDims, outputDims, output) {
        const graph = [...this.nodes, bytes(2, this.name), ...this.tensors, valueInfo(11, 'image', inputDims),
            valueInfo(12, output, outputDims)];
        return Buffer.concat([number(1, 8), bytes(2, 'fragbench'), message(7, ...graph),
            message(8, bytes(1, ''), number(2, 13))]);
    }
}

function detector() {
    const graph = new Graph('detector', 1), levels = [];
    const two = { stride: [2, 2] };
    let at = graph.hardSwish(graph.conv('image', 3, 16, two));
    for (const [from, to, kernel] of [[16, 24, 3], [24, 40, 5], [40, 80, 3], [80, 160, 5]]) {
        at = graph.block(graph.block(at, from, to, { ...two, kernel }), to, to, { kernel });
        levels.push([at, to]);
    }
    const lateral = levels.map(([level, channels]) => graph.conv(level, channels, 96, { kernel: 1 }));
    for (let i = 2; i >= 0; i--) lateral[i] = graph.node('Add', [lateral[i], graph.enlarge(lateral[i + 1], 2)]);
    const parts = lateral.map((level, i) => {
        const part = graph.conv(level, 96, 24);
        return i === 0 ? part : graph.enlarge(part, 2 ** i);
    });
    const joined = graph.node('Concat', parts, { axis: 1 });
    const head = graph.relu(graph.conv(joined, 96, 24));
    const half = graph.relu(graph.enlargeByConv(head, 24, 24));
    const map = graph.node('Sigmoid', [graph.enlargeByConv(half, 24, 1)], {}, 'map');
    return graph.model([1, 3, 'height', 'width'], [1, 1, 'height', 'width'], map);
}

function recognizer() {
    const graph = new Graph('recognizer', 2), hidden = 96, classes = 6625;
    const down = { stride: [2, 1] };
    let at = graph.hardSwish(graph.conv('image', 3, 16, { stride: [2, 2] }));
    at = graph.block(at, 16, 32, { stride: [2, 2] });
    for (const [from, to] of [[32, 64], [64, 96], [96, 192]])
        at = graph.block(graph.block(at, from, to, { ...down, kernel: 5 }), to, to, { kernel: 5 });
    const flat = graph.node('ReduceMean', [at], { axes: [2], keepdims: 0 });
    const steps = graph.node('Transpose', [flat], { perm: [2, 0, 1] });
    const lstm = graph.node('LSTM', [steps, graph.weights([2, 4 * hidden, 192], 192),
        graph.weights([2, 4 * hidden, hidden], hidden)], { hidden_size: hidden, direction: 'bidirectional' });
    const joined = graph.node('Reshape', [graph.node('Transpose', [lstm], { perm: [2, 0, 1, 3] }),
        graph.integers([0, 0, 2 * hidden])]);
    const scores = graph.node('Add', [graph.node('MatMul', [joined, graph.weights([2 * hidden, classes], 192)]),
        graph.weights([classes], 1e4)]);
    graph.node('Softmax', [scores], { axis: 2 }, 'characters');
    return graph.model(['lines', 3, 48, 'width'], ['lines', 'steps', classes], 'characters');
}

for (const [name, content] of [['detector', detector()], ['recognizer', recognizer()]]) {
    const path = join(process.argv[2], `${name}.onnx`);
    writeFileSync(`${path}.part`, content);
    renameSync(`${path}.part`, path);
}
