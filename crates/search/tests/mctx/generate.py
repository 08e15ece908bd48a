"""Writes cases.json: searches by mctx of small random trees, for tests/mcts/mctx.rs to repeat.

    python3 -m venv venv && venv/bin/pip install mctx==0.0.71 "jax[cpu]==0.10.2"
    venv/bin/python generate.py

Two players take turns (discount −1, no rewards). Values are seen by the side to move. A tree has the
same depth everywhere; its leaves are finished games, worth the same however often they are visited:
their one successor is the leaf itself with the other side to move. A move without a logit is illegal.
Every node has one, as every position of a real game has among all the moves there are. Only nodes
that mctx visited are written.
"""

import functools
import json
import pathlib

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import mctx
import numpy as np

TREES = 4
ILLEGAL = float(np.finfo(np.float64).min)

# Moves there are, depth, simulations, considered moves, scale of the noise, c_visit, c_scale, rescaled.
SETTINGS = [
    (3, 2, 4, 16, 0.0, 50.0, 0.1, True),
    (3, 3, 9, 2, 1.0, 50.0, 0.1, True),
    (4, 2, 16, 4, 1.0, 50.0, 0.1, True),
    (4, 5, 12, 16, 0.0, 50.0, 0.1, True),
    (4, 5, 50, 3, 0.0, 50.0, 0.1, True),
    (5, 3, 32, 4, 0.0, 50.0, 1.0, False),
    (5, 4, 40, 16, 1.0, 50.0, 0.1, False),
    (5, 5, 24, 1, 0.0, 20.0, 0.3, True),
    (6, 4, 33, 5, 1.0, 50.0, 1.0, True),
    (6, 5, 5, 4, 0.0, 50.0, 0.1, True),
    (6, 5, 64, 16, 1.0, 10.0, 0.1, True),
    (7, 4, 64, 4, 0.0, 50.0, 0.1, True),
    (7, 5, 20, 16, 0.0, 50.0, 1.0, False),
    (7, 5, 48, 8, 0.0, 50.0, 0.1, True),
    (7, 5, 64, 6, 1.0, 50.0, 0.1, True),
]


def tables(rng, moves, depth):
    """Logits and values of complete trees; the children of state s are s · moves + 1 and on."""
    states = (moves ** (depth + 1) - 1) // (moves - 1)
    logits = np.round(rng.normal(0.0, 1.5, (TREES, states, moves)), 3)
    values = np.round(rng.uniform(-1.0, 1.0, (TREES, states)), 3)
    illegal = rng.random((TREES, states, moves)) < 0.2
    # At least one illegal and two legal moves, anywhere.
    order = np.argsort(rng.random((TREES, states, moves)), axis=-1)
    np.put_along_axis(illegal, order[..., :1], True, axis=-1)
    np.put_along_axis(illegal, order[..., 1:3], False, axis=-1)
    return np.where(illegal, ILLEGAL, logits), values, states - moves**depth


def nodes(tree, which, leaves_from):
    """The visited nodes from the root on, and their children by place in the list."""
    written, queue, at = [], [0], 0
    while at < len(queue):
        node = queue[at]
        at += 1
        value = float(tree.raw_values[which, node])
        if int(tree.embeddings[1][which, node]) >= leaves_from:
            written.append({"value": value, "logits": [], "children": []})
            continue
        children = []
        for child in np.asarray(tree.children_index[which, node]).tolist():
            children.append(None if child < 0 else len(queue))
            queue += [child] if child >= 0 else []
        logits = np.asarray(tree.children_prior_logits[which, node]).tolist()
        logits = [None if x == ILLEGAL else round(x, 3) for x in logits]
        written.append({"value": value, "logits": logits, "children": children})
    return written


def cases(number, setting):
    moves, depth, simulations, considered, noise, c_visit, c_scale, rescale = setting
    logits, values, leaves_from = tables(np.random.default_rng(number), moves, depth)
    illegal = logits == ILLEGAL
    logits, values = jnp.asarray(logits), jnp.asarray(values)

    def step(params, key, move, embedding):
        tree, state, sign = embedding
        over = state >= leaves_from
        state = jnp.where(over, state, state * moves + 1 + move)
        sign = jnp.where(over, -sign, 1.0)
        zeros = jnp.zeros(TREES)
        output = mctx.RecurrentFnOutput(
            reward=zeros,
            discount=zeros - 1.0,
            prior_logits=logits[tree, state],
            value=sign * values[tree, state],
        )
        return output, (tree, state, sign)

    start = (jnp.arange(TREES), jnp.zeros(TREES, dtype=jnp.int64), jnp.ones(TREES))
    root = mctx.RootFnOutput(prior_logits=logits[:, 0], value=values[:, 0], embedding=start)
    transform = functools.partial(
        mctx.qtransform_completed_by_mix_value,
        maxvisit_init=c_visit,
        value_scale=c_scale,
        rescale_values=rescale,
    )
    output = mctx.gumbel_muzero_policy(
        params=(),
        rng_key=jax.random.PRNGKey(number),
        root=root,
        recurrent_fn=step,
        num_simulations=simulations,
        invalid_actions=jnp.asarray(illegal[:, 0]),
        qtransform=transform,
        max_num_considered_actions=considered,
        gumbel_scale=noise,
    )
    # The root's logits come back with the highest taken off, which changes no decision.
    tree = output.search_tree
    for which in range(TREES):
        weights = np.asarray(output.action_weights[which]).tolist()
        yield {
            "simulations": simulations,
            "considered": considered,
            "c_visit": c_visit,
            "c_scale": c_scale,
            "rescale": rescale,
            "noise": np.round(np.asarray(tree.extra_data.root_gumbel[which]), 7).tolist(),
            "nodes": nodes(tree, which, leaves_from),
            "action": int(output.action[which]),
            "visits": np.asarray(tree.children_visits[which, 0]).tolist(),
            "weights": [round(x, 9) for x in weights],
            "value": round(float(tree.node_values[which, 0]), 9),
        }


def main():
    written = [case for number, setting in enumerate(SETTINGS) for case in cases(number, setting)]
    schedules = [
        [considered, simulations, list(table)]
        for considered, simulations in [(1, 3), (2, 7), (3, 10), (4, 16), (5, 33), (16, 20), (16, 200)]
        for table in [mctx._src.seq_halving.get_sequence_of_considered_visits(considered, simulations)]
    ]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in written)
    text = f'{{"schedules":{json.dumps(schedules, separators=(",", ":"))},\n"searches":[\n{lines}\n]}}\n'
    (pathlib.Path(__file__).parent / "cases.json").write_text(text)


main()
