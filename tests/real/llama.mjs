// Answers requests as a service over llama.cpp does: the model stays, every request has a context of its own,
// which is created for it, reads a prompt, makes some tokens and is dropped; three are under way at once.
// Lengths are random with fixed seeds and tokens do not end a request, so the work is the same every time.
// Usage: node llama.mjs DIR [REQUESTS]
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { random } from './random.mjs';

const AT_ONCE = 3, FIRST_WORD = 259, TOKENS = 8000; // the tokens before are special ones and bytes

async function load(folder) {
    const entry = createRequire(join(folder, 'package.json')).resolve('node-llama-cpp');
    const { getLlama, LlamaLogLevel } = await import(pathToFileURL(entry));
    const llama = await getLlama({
        gpu: false, build: 'never', skipDownload: true, maxThreads: AT_ONCE, logLevel: LlamaLogLevel.error,
        progressLogs: false,
    });
    return llama.loadModel({ modelPath: join(folder, 'llama.gguf'), gpuLayers: 0, checkTensors: false });
}

async function answer(model, number) {
    const rng = random(number + 1), contextSize = 256 * rng.integer(2, 12);
    const prompt = Array.from({ length: rng.integer(40, contextSize / 4) }, () => rng.integer(FIRST_WORD, TOKENS - 1));
    const context = await model.createContext({ contextSize, threads: 1, failedCreationRemedy: false });
    let left = rng.integer(8, 48);
    for await (const token of context.getSequence().evaluate([model.tokens.bos, ...prompt])) {
        void token;
        if (--left === 0) break;
    }
    await context.dispose();
    return prompt.length;
}

async function main(folder, requests) {
    const model = await load(folder);
    let next = 0, tokens = 0;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < requests) {
            const read = await answer(model, next++);
            tokens += read;
        }
    }));
    await model.dispose();
    console.log(`${requests} requests, prompts of ${tokens} tokens`);
}

await main(process.argv[2], Number(process.argv[3] ?? 30));
