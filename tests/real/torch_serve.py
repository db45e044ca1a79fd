"""PyTorch programs whose memory people ask about: torch_serve.py encoder|decoder|cnn|load [SCALE]

encoder  a 6-layer transformer encoder: 4 request threads, inputs of varying length and batch
decoder  4 threads that decode with a KV cache which grows by torch.cat, a token at a time
cnn      4 threads that run a convolutional network over images of varying size
load     loads a model of 310 MB from a file's worth of weights and drops it, three times

SCALE multiplies the number of requests. Each thread's requests are its own fixed sequence; who is served
when is the scheduler's choice, as in a service.
"""
import random
import sys
import threading
import time

import torch
from torch import nn

THREADS = 4


def serve(request, count):
    """Calls request(random) count times on each of 4 threads."""
    failures = []

    def work(number):
        chosen = random.Random(number)
        try:
            with torch.inference_mode():
                for _ in range(count):
                    request(chosen)
        except BaseException as error:  # a thread's end would otherwise pass for success
            failures.append(error)

    crew = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    if failures:
        raise failures[0]


def encoder(scale):
    width, layers = 384, 6
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()
    embedding = nn.Embedding(16000, width)

    def request(chosen):
        batch = chosen.choice((1, 1, 2, 4, 8))
        length = min(512, max(8, int(chosen.lognormvariate(4.4, 0.8))))
        tokens = torch.randint(0, 16000, (batch, length))
        model(embedding(tokens)).mean(1)

    serve(request, max(1, round(10 * scale)))


def decoder(scale):
    width, layers, heads, vocabulary = 256, 4, 4, 8000
    projections = [nn.Linear(width, 3 * width) for _ in range(layers)]
    outputs = [nn.Linear(width, width) for _ in range(layers)]
    embedding, head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)

    def step(state, tokens, caches):
        for index in range(layers):
            query, key, value = projections[index](state).chunk(3, -1)
            if caches[index] is not None:
                key = torch.cat((caches[index][0], key), 1)
                value = torch.cat((caches[index][1], value), 1)
            caches[index] = (key, value)
            split = [t.view(t.shape[0], t.shape[1], heads, -1).transpose(1, 2) for t in (query, key, value)]
            scores = torch.softmax(split[0] @ split[1].transpose(-1, -2) / 8, -1)
            state = state + outputs[index]((scores @ split[2]).transpose(1, 2).reshape(state.shape))
        return head(state).argmax(-1)

    def request(chosen):
        batch, length = chosen.choice((1, 2, 4)), chosen.randrange(64, 256)
        tokens = torch.randint(0, vocabulary, (batch, 1))
        caches = [None] * layers
        for _ in range(length):
            tokens = step(embedding(tokens), tokens, caches)

    serve(request, max(1, round(2 * scale)))


def cnn(scale):
    def block(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                             nn.MaxPool2d(2))

    model = nn.Sequential(block(3, 32), block(32, 64), block(64, 128), block(128, 128), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(128, 1000)).eval()

    def request(chosen):
        size = chosen.randrange(128, 513, 32)
        model(torch.rand(chosen.choice((1, 1, 2, 4)), 3, size, size))

    serve(request, max(1, round(5 * scale)))


def load(scale):
    def build():
        layers = []
        for _ in range(12):
            layers += [nn.Linear(1024, 3072), nn.Linear(1024, 1024), nn.Linear(1024, 1024)]
        return nn.ModuleList(layers + [nn.Embedding(24000, 1024)])

    weights = {name: tensor.clone() for name, tensor in build().state_dict().items()}
    for _ in range(max(1, round(3 * scale))):
        model = build()
        model.load_state_dict({name: tensor.clone() for name, tensor in weights.items()})
        time.sleep(0.3)
        del model
        time.sleep(0.3)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the request threads are the only ones
    kind, scale = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1
    with torch.inference_mode():
        {"encoder": encoder, "decoder": decoder, "cnn": cnn, "load": load}[kind](scale)
    print("done", flush=True)


main()
