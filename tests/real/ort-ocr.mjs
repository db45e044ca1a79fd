// Reads pages as an OCR service does, with onnxruntime: four threads, each takes a page of another size,
// finds text on it (detector), cuts the lines out, reads them in batches of similar width (recognizer), and
// keeps the text. Pages, boxes and weights are random with fixed seeds, so the work is the same every time.
// Usage: node ort-ocr.mjs DIR [PAGES]; ORT_ARENA=1 leaves onnxruntime's own arena on
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { random } from './random.mjs';

const THREADS = 4, CLASSES = 6625, LINE_HEIGHT = 48, BATCH = 4;

/** red, green and blue of each pixel: paper with specks. */
function scan(rng, height, width) {
    const image = new Uint8Array(height * width * 3).fill(240);
    for (let specks = image.length >> 5; specks > 0; specks--) image[rng.next() % image.length] = rng.next();
    return image;
}

/** Part of an image at another size, as planes of numbers about 0, into target at offset. */
function cut(image, imageWidth, box, height, width, target, offset) {
    for (let y = 0; y < height; y++) {
        const row = (box.y + Math.floor((y * box.height) / height)) * imageWidth;
        for (let x = 0; x < width; x++) {
            const from = (row + box.x + Math.floor((x * box.width) / width)) * 3;
            for (let plane = 0; plane < 3; plane++)
                target[offset + (plane * height + y) * width + x] = image[from + plane] / 127.5 - 1;
        }
    }
}

/** Lines of text, from short to long. Where they are cannot come from random weights. */
function findLines(rng, height, width) {
    const lines = Array.from({ length: rng.integer(8, 24) }, () => {
        const long = rng.integer(40, width - 1), tall = rng.integer(16, 40);
        return { x: rng.integer(0, width - long), y: rng.integer(0, height - tall), width: long, height: tall };
    });
    return lines.sort((a, b) => a.width / a.height - b.width / b.height);
}

const widthAt = (line) => Math.min(640, Math.max(32, Math.ceil((line.width * LINE_HEIGHT) / line.height / 8) * 8));

function decode(scores, lines, steps) {
    return Array.from({ length: lines }, (_, line) => {
        let text = '';
        for (let step = 0; step < steps; step++) {
            const from = (line * steps + step) * CLASSES;
            let best = 0;
            for (let i = 1; i < CLASSES; i++) if (scores[from + i] > scores[from + best]) best = i;
            text += String.fromCodePoint(0x4e00 + best);
        }
        return text;
    });
}

class Reader {
    constructor(ort, detector, recognizer) {
        Object.assign(this, { ort, detector, recognizer });
    }

    static async open(folder) {
        const ort = createRequire(join(folder, 'package.json'))('onnxruntime-node');
        const arena = process.env.ORT_ARENA === '1';
        const options = {
            executionProviders: ['cpu'], enableCpuMemArena: arena, enableMemPattern: arena, intraOpNumThreads: 1,
            interOpNumThreads: 1,
        };
        const load = (name) => ort.InferenceSession.create(join(folder, name), options);
        return new Reader(ort, await load('detector.onnx'), await load('recognizer.onnx'));
    }

    async detect(image, height, width) {
        const pixels = new Float32Array(3 * height * width);
        cut(image, width, { x: 0, y: 0, width, height }, height, width, pixels, 0);
        const { map } = await this.detector.run({ image: new this.ort.Tensor('float32', pixels, [1, 3, height, width]) });
        return map.data.reduce((text, value) => text + (value > 0.5), 0) / map.data.length;
    }

    async recognize(image, imageWidth, lines) {
        const width = widthAt(lines.at(-1)), size = 3 * LINE_HEIGHT * width;
        const pixels = new Float32Array(lines.length * size);
        lines.forEach((line, i) => cut(image, imageWidth, line, LINE_HEIGHT, width, pixels, i * size));
        const { characters } = await this.recognizer.run(
            { image: new this.ort.Tensor('float32', pixels, [lines.length, 3, LINE_HEIGHT, width]) });
        return decode(characters.data, lines.length, characters.dims[1]);
    }

    async read(page) {
        const rng = random(page + 1), height = 32 * rng.integer(10, 24), width = 32 * rng.integer(10, 24);
        const image = scan(rng, height, width);
        const share = await this.detect(image, height, width);
        const lines = findLines(rng, height, width), text = [];
        for (let i = 0; i < lines.length; i += BATCH)
            text.push(...await this.recognize(image, width, lines.slice(i, i + BATCH)));
        return { page, share, lines, text };
    }
}

async function work({ folder, first, pages }) {
    const reader = await Reader.open(folder), kept = [];
    for (let page = first; page < pages; page += THREADS) kept.push(await reader.read(page));
    parentPort.postMessage(kept.reduce((count, { text }) => count + text.length, 0));
}

async function main(folder, pages) {
    const counts = await Promise.all(Array.from({ length: THREADS }, (_, first) => new Promise((resolve, reject) => {
        const worker = new Worker(new URL(import.meta.url), { workerData: { folder, first, pages } });
        worker.on('message', resolve);
        worker.on('error', reject);
    })));
    console.log(`${pages} pages, ${counts.reduce((a, b) => a + b)} lines`);
}

if (isMainThread) await main(process.argv[2], Number(process.argv[3] ?? 48));
else await work(workerData);
