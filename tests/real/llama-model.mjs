// The model of llama.mjs: a small Llama (6 layers, 384 wide, 8,000 tokens) in GGUF, with random weights in half
// precision and a tokenizer of bytes and random words. It says nothing, but allocates as one of its shape does.
// Usage: node llama-model.mjs FILE
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { random } from './random.mjs';

const LAYERS = 6, WIDTH = 384, HEADS = 6, HIDDEN = 1024, TOKENS = 8000, CONTEXT = 4096;

// --- GGUF 3: header, facts, directory of tensors, tensors -------------------------------------------------------

const ALIGNMENT = 32;
const TYPES = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 };
const FLOAT = 0, HALF = 1; // of tensors

const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const encode = {
    u32,
    i32: (value) => Buffer.from(Int32Array.of(value).buffer),
    f32: (value) => Buffer.from(Float32Array.of(value).buffer),
    string: text,
};

const fact = (key, type, value) => Buffer.concat([text(key), u32(TYPES[type]), encode[type](value)]);
const facts = (key, type, values) => Buffer.concat(
    [text(key), u32(TYPES.array), u32(TYPES[type]), u64(values.length), ...values.map(encode[type])]);
const padding = (size) => (ALIGNMENT - (size % ALIGNMENT)) % ALIGNMENT;

// --- the tokenizer ----------------------------------------------------------------------------------------------

const NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6;

/** [text, score, type] of each token: sentencepiece merges what scores best. */
function vocabulary() {
    const rng = random(3), words = new Set();
    const tokens = [['<unk>', 0, UNKNOWN], ['<s>', 0, CONTROL], ['</s>', 0, CONTROL]];
    for (let byte = 0; byte < 256; byte++)
        tokens.push([`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 0, BYTE]);
    for (const letter of '▁abcdefghijklmnopqrstuvwxyz') words.add(letter);
    while (tokens.length + words.size < TOKENS) {
        const letters = Array.from({ length: rng.integer(2, 7) }, () => String.fromCharCode(rng.integer(97, 122)));
        words.add((rng.next() & 1 ? '▁' : '') + letters.join(''));
    }
    [...words].forEach((word, rank) => tokens.push([word, -rank, NORMAL]));
    return tokens;
}

// --- the tensors ------------------------------------------------------------------------------------------------

function tensors() {
    const list = [['token_embd.weight', HALF, [WIDTH, TOKENS]]];
    for (let layer = 0; layer < LAYERS; layer++) {
        const add = (name, type, ...dims) => list.push([`blk.${layer}.${name}.weight`, type, dims]);
        add('attn_norm', FLOAT, WIDTH);
        for (const name of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) add(name, HALF, WIDTH, WIDTH);
        add('ffn_norm', FLOAT, WIDTH);
        add('ffn_gate', HALF, WIDTH, HIDDEN);
        add('ffn_up', HALF, WIDTH, HIDDEN);
        add('ffn_down', HALF, HIDDEN, WIDTH);
    }
    list.push(['output_norm.weight', FLOAT, [WIDTH]], ['output.weight', HALF, [WIDTH, TOKENS]]);
    let offset = 0;
    return list.map(([name, type, dims]) => {
        const size = dims.reduce((a, b) => a * b) * (type === HALF ? 2 : 4), at = offset;
        offset += size + padding(size);
        return { name, type, dims, size, offset: at };
    });
}

/** Halves of either sign from 2^-7 to 2^-3 (exponent field 8 to 11), two at a time; norms are 1. */
function content(tensor, rng) {
    if (tensor.type === FLOAT) return Buffer.from(new Float32Array(tensor.size / 4).fill(1).buffer);
    const pairs = new Uint32Array(tensor.size / 4);
    for (let i = 0; i < pairs.length; i++) pairs[i] = (rng.next() & 0x8fff8fff) | 0x20002000;
    return Buffer.from(pairs.buffer);
}

function header(list) {
    const tokens = vocabulary();
    const known = [
        fact('general.architecture', 'string', 'llama'),
        fact('general.name', 'string', 'random'),
        fact('general.alignment', 'u32', ALIGNMENT),
        fact('general.file_type', 'u32', 1),
        fact('llama.context_length', 'u32', CONTEXT),
        fact('llama.embedding_length', 'u32', WIDTH),
        fact('llama.block_count', 'u32', LAYERS),
        fact('llama.feed_forward_length', 'u32', HIDDEN),
        fact('llama.attention.head_count', 'u32', HEADS),
        fact('llama.attention.head_count_kv', 'u32', HEADS),
        fact('llama.attention.layer_norm_rms_epsilon', 'f32', 1e-5),
        fact('llama.rope.dimension_count', 'u32', WIDTH / HEADS),
        fact('llama.vocab_size', 'u32', TOKENS),
        fact('tokenizer.ggml.model', 'string', 'llama'),
        facts('tokenizer.ggml.tokens', 'string', tokens.map(([word]) => word)),
        facts('tokenizer.ggml.scores', 'f32', tokens.map(([, score]) => score)),
        facts('tokenizer.ggml.token_type', 'i32', tokens.map(([, , type]) => type)),
        fact('tokenizer.ggml.unknown_token_id', 'u32', 0),
        fact('tokenizer.ggml.bos_token_id', 'u32', 1),
        fact('tokenizer.ggml.eos_token_id', 'u32', 2),
    ];
    const directory = list.map(({ name, type, dims, offset }) =>
        Buffer.concat([text(name), u32(dims.length), ...dims.map(u64), u32(type), u64(offset)]));
    return Buffer.concat([Buffer.from('GGUF'), u32(3), u64(list.length), u64(known.length), ...known, ...directory]);
}

function write(path) {
    const list = tensors(), rng = random(4), head = header(list);
    const part = `${path}.part`, file = openSync(part, 'w');
    const put = (buffer) => writeSync(file, Buffer.concat([buffer, Buffer.alloc(padding(buffer.length))]));
    put(head);
    for (const tensor of list) put(content(tensor, rng));
    closeSync(file);
    renameSync(part, path);
}

write(process.argv[2]);
