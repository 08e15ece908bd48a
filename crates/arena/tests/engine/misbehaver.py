"""An engine for tests, which plays any step and misbehaves when it is told to.

    misbehaver.py PROTOCOL MODE AT [MARKER [RECORD]]

PROTOCOL is `ugi` or `contest`; MODE one of the functions below, `honest`, or `random`, which draws one
for each game from the option `Seed`. It misbehaves at its move number AT of a game, 0 the first; in the
mode `random`, AT is the most that is drawn. MARKER makes its processes recognisable; RECORD is a file to
which the name of each misdeed is added as it happens.
"""

import os
import random
import subprocess
import sys
import time

PROTOCOL, MODE, AT = sys.argv[1], sys.argv[2], int(sys.argv[3])
MARKER = sys.argv[4] if len(sys.argv) > 4 else "unmarked"
RECORD = sys.argv[5] if len(sys.argv) > 5 else None


def say(line, end="\n"):
    sys.stdout.write(line + end)
    sys.stdout.flush()


def sleep_for_ever():
    while True:
        time.sleep(1000)


class Board:
    """Pieces by points (file, rank): 0 Black, 1 White."""

    def __init__(self):
        self.pieces = {(f, r): int(r > 3) for f in range(6) for r in (0, 1, 4, 5)}
        self.side = 0

    def play(self, move):
        self.pieces[move[1]] = self.pieces.pop(move[0])
        self.side ^= 1

    def step(self, rng):
        around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        steps = [
            ((f, r), (f + a, r + b))
            for (f, r), side in self.pieces.items()
            if side == self.side
            for a, b in around
            if 0 <= f + a < 6 and 0 <= r + b < 6 and (f + a, r + b) not in self.pieces
        ]
        return rng.choice(sorted(steps))


def point(text):
    if PROTOCOL == "ugi":
        return ord(text[0]) - ord("a"), ord(text[1]) - ord("1")
    return ord(text[0]) - ord("A"), ord(text[1]) - ord("A")


def text(move):
    if PROTOCOL == "ugi":
        return "".join(chr(ord("a") + f) + chr(ord("1") + r) for f, r in move)
    return "".join(chr(ord("A") + f) + chr(ord("A") + r) for f, r in move)


ANSWER = "bestmove " if PROTOCOL == "ugi" else "move "


# Each is given the answer that an honest engine would give.

def crash(answer):
    print("a segment of memory is at fault", file=sys.stderr, flush=True)
    os._exit(3)


def leave(answer):
    os._exit(0)


def hang(answer):
    sleep_for_ever()


def late(answer):
    time.sleep(6)
    say(answer)


def gibberish(answer):
    say(ANSWER + "over there")


def illegal(answer):
    say(ANSWER + ("a1f6" if PROTOCOL == "ugi" else "AAFF"))


def object(answer):
    say("info string no such board")
    illegal(answer)


def half(answer):
    say(answer[:-2], end="")
    os._exit(0)


def mute(answer):
    os.close(1)
    sleep_for_ever()


def flood(answer):
    while True:
        say("flood " * 300)


def endless(answer):
    while True:
        say("endless" * 1000, end="")


def grandchild(answer):
    code = "import time; time.sleep(1000)"
    subprocess.Popen([sys.executable, "-c", code, MARKER])
    os._exit(4)


# These do no harm.

def rubbish(answer):
    say("\x00\x1b[2J\u2028 what?")
    say("info score cp depth nodes pv -1 multipv")
    say("")
    say(ANSWER.strip() + "s")
    say(answer)


def long_line(answer):
    say("x" * 3_000_000)
    say(answer)


def stubborn(answer):
    """Its child has no reason to end with it, and neither has it to end."""
    global ignores_quit
    ignores_quit = True
    code = "import time; time.sleep(1000)"
    # Else it would keep the output open in a later game that begins by closing it.
    subprocess.Popen([sys.executable, "-c", code, MARKER], stdout=subprocess.DEVNULL)
    say(answer)


def honest(answer):
    say(answer)


MISDEEDS = {
    f.__name__: f
    for f in (
        crash, leave, hang, late, gibberish, illegal, object, half, mute, flood, endless, grandchild,
        rubbish, long_line, stubborn, honest,
    )
}

ignores_quit = False
board, rng, mode, at, moves = Board(), random.Random(1), MODE, AT, 0


def begin(seed):
    global board, rng, mode, at, moves
    board, rng, moves = Board(), random.Random(seed), 0
    if MODE == "random":
        mode, at = rng.choice(sorted(MISDEEDS)), rng.randrange(AT + 1)


def answer():
    global moves
    move = board.step(rng)
    honestly = ANSWER + text(move)
    deed = honest
    if moves == at and mode in MISDEEDS:
        deed = MISDEEDS[mode]
        if RECORD:
            with open(RECORD, "a") as record:
                record.write(mode + "\n")
    moves += 1
    deed(honestly)
    return move


if MODE == "no_start":
    print("no licence found", file=sys.stderr, flush=True)
    sys.exit(1)

if MODE == "deaf":
    sleep_for_ever()

seed = 0
while True:
    line = sys.stdin.readline()
    words = line.split()
    if not line or words == ["quit"]:
        if ignores_quit:
            sleep_for_ever()
        break
    if not words:
        continue
    if PROTOCOL == "ugi":
        if words[0] == "ugi":
            say("id name Misbehaver")
            say("option name Seed type spin default 0 min 0 max 999999")
            say("ugiok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "setoption":
            seed = int(words[-1])
        elif words[0] == "uginewgame":
            begin(seed)
        elif words[0] == "position":
            board = Board()
            for word in words[3:]:
                board.play((point(word[:2]), point(word[2:])))
        elif words[0] == "go":
            answer()
    else:
        if words[0] == "name?":
            say("name Misbehaver")
        elif words[0] in ("new", "reset"):
            begin(seed)
            if words == ["new", "black"]:
                board.play(answer())
        elif words[0] in ("move", "force"):
            board.play((point(words[1][:2]), point(words[1][2:])))
            if words[0] == "move":
                board.play(answer())
        elif words[0] == "go":
            board.play(answer())
