"""Speech or not: Silero VAD on speech made by espeak-ng, in white noise, babble and hum.

A frame is 512 samples at 16 kHz, 32 ms. x = speech + 10^(-snr/20) noise, snr = 30 - 8 severity dB; where nobody
speaks the noise stays. Silero's network is recurrent and hears 64 samples of the frame before.
"""

from __future__ import annotations

import io
import itertools
import shutil
import subprocess
import wave

import numpy as np

from knob_core.streams.change import ChangePlan
from train.outside import packages, streams
from train.outside.packages import NotInstalled, Weights
from train.outside.streams import OutsideStreams

WEIGHTS = Weights("silero-vad", "6.2.3", "silero_vad", "data/silero_vad_16k_op15.onnx", "MIT")
CLASSES = ("no speech", "speech")
RATE, FRAME, CONTEXT = 16_000, 512, 64  # samples/s, samples, samples
LEVEL = 0.07  # root mean square of speech, full scale 1
SNR_CLEAN, SNR_STEP = 30.0, 8.0  # dB
NOISES = ("white", "babble", "hum")
SPEAKERS = ("en-us+m1", "en-us+f2", "en-gb+m4", "en-gb+f4", "de+m2", "fr+f1", "es+m6", "it+f3")
CROWD = ("en-us+m7", "en-gb+f1", "de+f3", "fr+m3", "es+f5", "it+m5", "nl+m2", "sv+f2")
WORDS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "north", "south", "east", "west",
    "river", "mountain", "winter", "summer", "yellow", "purple", "engine", "window", "garden", "market", "signal",
    "number", "camera", "station", "morning", "evening", "doctor", "teacher", "harbour", "kitchen", "letter", "paper",
    "silver", "copper", "travel", "answer", "question", "open", "close", "moving", "turning", "stopping", "waiting",
)  # fmt: skip
SENTENCES = 6  # of each speaker
SENTENCE_WORDS = 24


def make(seed: int = 0, count: int = streams.STREAMS, frames: int = 300, kind: str = "mixed") -> OutsideStreams:
    """Streams of Silero VAD."""
    session = packages.onnx_session(WEIGHTS.path())
    said = sentences(SPEAKERS, seed)
    labels = np.repeat([1, 0], len(said))  # as many silent contents as spoken ones
    made = streams.plans(labels, count, frames, seed, kind)
    noise = {"white": None, "babble": babble(seed), "hum": None}
    names = [NOISES[r % len(NOISES)] for r in range(count)]
    sound = np.stack(
        [mixed(plan, said, name, noise[name], seed, r) for r, (plan, name) in enumerate(zip(made, names, strict=True))]
    )  # (R, T, FRAME)
    speech = run(session, sound)
    return streams.gather(streams.logs(np.stack([1 - speech, speech], -1)), made, names)


def run(session: object, sound: np.ndarray) -> np.ndarray:
    """Probability of speech (R, T), frame after frame, all streams at once."""
    count, frames, _ = sound.shape
    state = np.zeros((2, count, 128), np.float32)
    before = np.zeros((count, CONTEXT), np.float32)
    p = np.empty((count, frames))
    for t in range(frames):
        x = np.concatenate([before, sound[:, t]], 1).astype(np.float32)
        answer, state = session.run(None, {"input": x, "state": state, "sr": np.array(RATE)})  # type: ignore[attr-defined]
        p[:, t], before = answer[:, 0], sound[:, t, -CONTEXT:]
    return p


# Sound


def mixed(
    plan: ChangePlan, said: list[np.ndarray], name: str, crowd: np.ndarray | None, seed: int, stream: int
) -> np.ndarray:
    """The samples (T, FRAME) of one stream."""
    draw = np.random.default_rng([seed, stream, 1])
    sound = np.zeros((len(plan), FRAME))
    edges = [0, *plan.cuts, len(plan)]
    for start, end in itertools.pairwise(edges):
        if plan.labels[start]:
            voice = said[plan.picture[start]]
            place = int(draw.integers(len(voice)))
            sound[start:end] = np.take(voice, place + np.arange((end - start) * FRAME), mode="wrap").reshape(-1, FRAME)
    gain = 10 ** (-(SNR_CLEAN - SNR_STEP * plan.severity) / 20)  # (T,)
    sound += gain[:, None] * background(name, len(plan) * FRAME, crowd, draw).reshape(-1, FRAME)
    return np.clip(sound, -1, 1)


def background(name: str, samples: int, crowd: np.ndarray | None, draw: np.random.Generator) -> np.ndarray:
    """Noise (samples,) as loud as speech."""
    if name == "white":
        return LEVEL * draw.standard_normal(samples)
    if crowd is not None:
        return np.take(crowd, int(draw.integers(len(crowd))) + np.arange(samples), mode="wrap")
    t = np.arange(samples) / RATE
    tones = sum(np.sin(2 * np.pi * (50 * k * t + draw.random())) / k for k in range(1, 9))
    return level(np.asarray(tones) + 0.1 * draw.standard_normal(samples))


def babble(seed: int) -> np.ndarray:
    """Many voices at once, none of them a speaker's."""
    voices = sentences(CROWD, seed + 1)
    length = max(map(len, voices))
    return level(np.sum([np.resize(voice, length) for voice in voices[:: SENTENCES // 2]], axis=0))


def sentences(voices: tuple[str, ...], seed: int) -> list[np.ndarray]:
    """SENTENCES of each voice, (samples,) each, all equally loud."""
    draw = np.random.default_rng([seed, 2])
    return [say(" ".join(draw.choice(WORDS, SENTENCE_WORDS)), voice) for voice in voices for _ in range(SENTENCES)]


def say(text: str, voice: str) -> np.ndarray:
    """What espeak-ng makes of a text, (samples,) at 16 kHz, without the silence at its ends."""
    from scipy.signal import resample_poly

    if shutil.which("espeak-ng") is None:
        raise NotInstalled("espeak-ng is not installed; install it: apt-get install espeak-ng")
    spoken = subprocess.run(["espeak-ng", "-v", voice, "--stdout", text], capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(spoken)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(1 << 30), np.int16) / 32768
    heard = np.flatnonzero(np.abs(samples) > 0.01)
    return level(resample_poly(samples[heard[0] : heard[-1] + 1], RATE, rate))


def level(sound: np.ndarray) -> np.ndarray:
    """The same, with LEVEL as root mean square."""
    return np.asarray(sound * (LEVEL / np.sqrt(np.mean(np.square(sound)))))
