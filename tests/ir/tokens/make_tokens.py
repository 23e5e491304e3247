#!/usr/bin/env python3
"""Trains a small byte-level BPE on the guide, and stores what the published algorithm makes of some texts.

Sennrich et al. 2016 (the merges), Radford et al. 2019 (bytes as characters, and the pattern of words, here by hand).
files/: GPT-2's vocab.json and merges.txt, Hugging Face's tokenizer.json, and texts with their ids, NAME.txt and NAME.npy."""

import collections
import json
import os
import random
import unicodedata

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "files")
CONTRACTIONS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"]
BLANKS = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}
SPECIAL = "<|endoftext|>"


def kind(character):
    if character in BLANKS:
        return "blank"
    category = unicodedata.category(character)[0]
    return category if category in "LN" else "other"


def words_of(text):
    """The matches of 's|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+, one after the other."""
    found, at = [], 0
    while at < len(text):
        end = next((at + len(word) for word in CONTRACTIONS if text.startswith(word, at)), at)
        begin = at + 1 if text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "blank" else at
        if end == at:
            end = begin
            while end < len(text) and kind(text[end]) == kind(text[begin]):
                end += 1
            # Of blanks before a word the last is left to it, or by itself.
            if kind(text[begin]) == "blank" and end < len(text) and end - begin > 1:
                end -= 1
        found.append(text[at:end])
        at = end
    return found


def characters():
    """GPT-2's table: bytes that print stand for themselves, the others follow from U+0100 on."""
    printable = list(range(ord("!"), ord("~") + 1)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(256 + k) for k, byte in enumerate(others)}}


TABLE = characters()


def merged(symbols, pair):
    out, k = [], 0
    while k < len(symbols):
        if tuple(symbols[k:k + 2]) == pair:
            out.append(symbols[k] + symbols[k + 1])
            k += 2
        else:
            out.append(symbols[k])
            k += 1
    return out


def in_characters(word):
    return [TABLE[byte] for byte in word.encode("utf-8")]


def train(text, count):
    words = collections.Counter(words_of(text))
    split = {word: in_characters(word) for word in words}
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(split[word], split[word][1:]):
                pairs[pair] += times
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        split = {word: merged(symbols, best) for word, symbols in split.items()}
    return merges


def encode(text, vocabulary, ranks):
    ids = []
    for number, part in enumerate(text.split(SPECIAL)):
        if number > 0:
            ids.append(vocabulary[SPECIAL])
        for word in words_of(part):
            symbols = in_characters(word)
            while len(symbols) > 1:
                best = min(zip(symbols, symbols[1:]), key=lambda pair: ranks.get(pair, len(ranks)))
                if best not in ranks:
                    break
                symbols = merged(symbols, best)
            ids += [vocabulary[symbol] for symbol in symbols]
    return ids


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(HERE, "../../../docs/guide.md"), encoding="utf-8") as file:
        guide = file.read()
    merges = train(guide, 300)
    tokens = [TABLE[byte] for byte in sorted(TABLE)] + [a + b for a, b in merges] + [SPECIAL]
    vocabulary = {token: k for k, token in enumerate(tokens)}
    ranks = {pair: k for k, pair in enumerate(merges)}

    def write(name, text):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    write("vocab.json", json.dumps(vocabulary))
    write("merges.txt", "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    write("tokenizer.json", json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": vocabulary[SPECIAL], "content": SPECIAL, "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "vocab": {token: k for token, k in vocabulary.items() if token != SPECIAL},
                  "merges": [f"{a} {b}" for a, b in merges]}}))
    draw = random.Random(3)
    signs = ["a", "Z", "é", "ß", "中", "文", "😀", "٣", "½", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "'s", "'", ".", "…", "e\u0301", "\u180e", "\x1c"]
    texts = {
        "guide": guide[:4000],
        "contractions": "it's we've I'll they'd he'S  don't  \n\n  x\t y   ",
        "special": f"one{SPECIAL}two {SPECIAL}\n<|endoftext",
        "unicode": "Grüße, 世界! Привет мир — ½ + ٣ = 😀\u00a0ok e\u0301\u200d",
        "mixed": "".join(draw.choice(signs) for _ in range(800)),
        "empty": "",
        "long": "the" * 700 + "a" * 999,
    }
    for name, text in texts.items():
        write(name + ".txt", text)
        np.save(os.path.join(FOLDER, name + ".npy"), np.array(encode(text, vocabulary, ranks), np.int32))


main()
