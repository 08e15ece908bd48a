'use strict';
// The board that replays games. What it knows of boards and games it reads from the element `data`.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const DELAY = 700; // milliseconds of a move when it plays by itself
  const data = JSON.parse(document.getElementById('data').textContent);
  const by = id => document.getElementById(id);

  let game = null;     // the game on the board
  let positions = [];  // its positions: { rows, side, quiet, ply }
  let ply = 0;         // how many of its moves are made
  let timer = null;    // of the play by itself

  // Elements. Texts go in as text nodes, whatever they say.
  const node = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // Positions. rows[rank][file] is 'b', 'w' or null.
  function parse(fen) {
    const [ranks, side, quiet, number] = fen.split(' ');
    const rows = ranks.split('/').reverse().map(rank =>
      [...rank].flatMap(c => c >= '1' && c <= '9' ? Array(Number(c)).fill(null) : [c]));
    return { rows, side, quiet: Number(quiet), ply: 2 * (Number(number) - 1) + (side === 'w' ? 1 : 0) };
  }
  function fenOf(position, board) {
    const rank = row => row.map(c => c ?? '1').join('').replace(/1+/g, run => run.length);
    const ranks = position.rows.map(rank).reverse().join('/');
    const text = `${ranks} ${position.side} ${position.quiet} ${Math.floor(position.ply / 2) + 1}`;
    return board.variant === 'standard' ? text : `${text} ${board.variant}`;
  }
  const point = name => [name.charCodeAt(0) - 97, Number(name[1]) - 1];
  const moveOf = n => game.moves.slice(4 * n, 4 * n + 4);
  function after(position, move) {
    const rows = position.rows.map(row => row.slice());
    const [[x, y], [u, v]] = [point(move.slice(0, 2)), point(move.slice(2))];
    const capture = rows[v][u] !== null;
    rows[v][u] = rows[y][x];
    rows[y][x] = null;
    return { rows, side: position.side === 'b' ? 'w' : 'b', quiet: capture ? 0 : position.quiet + 1, ply: position.ply + 1 };
  }
  const isCapture = n => {
    const [u, v] = point(moveOf(n).slice(2));
    return positions[n].rows[v][u] !== null;
  };
  const written = n => isCapture(n) ? `${moveOf(n).slice(0, 2)}×${moveOf(n).slice(2)}` : `${moveOf(n).slice(0, 2)}–${moveOf(n).slice(2)}`;
  const lead = position => position.rows.flat().reduce((sum, c) => sum + (c === 'b' ? 1 : c === 'w' ? -1 : 0), 0);
  const last = () => positions.length - 1;

  // The list of games.
  function shown() {
    const chosen = id => by(id)?.value ?? '';
    const [source, player, ending] = ['source', 'player', 'ending'].map(chosen);
    return data.games.filter(g =>
      (source === '' || g.source === Number(source)) &&
      (player === '' || g.black === Number(player) || g.white === Number(player)) &&
      (ending === '' || g.ending === Number(ending)));
  }
  function list() {
    const games = shown();
    by('count').textContent = games.length === 1 ? '1 game' : `${games.length} games`;
    by('list').querySelectorAll('label').forEach(label => label.remove());
    for (const g of games) {
      const radio = node('input', { type: 'radio', name: 'game', value: data.games.indexOf(g) });
      const from = data.sources.length > 1 ? `${data.sources[g.source]}, ` : '';
      const about = `${from}game ${g.number}: ${data.endings[g.ending]}, ${g.moves.length / 4} plies`;
      by('list').append(node('label', {}, radio,
        `${data.players[g.black]} – ${data.players[g.white]}  `, node('b', {}, g.result), node('small', {}, about)));
    }
    if (games.length > 0 && !games.includes(game)) open(games[0]);
    mark();
  }
  function mark() {
    for (const label of by('list').querySelectorAll('label')) {
      const radio = label.querySelector('input');
      radio.checked = data.games[Number(radio.value)] === game;
      label.classList.toggle('chosen', radio.checked);
    }
  }

  function open(chosen) {
    stop();
    game = chosen;
    positions = [parse(game.start)];
    for (let n = 0; n < game.moves.length / 4; n++) positions.push(after(positions[n], moveOf(n)));
    const disc = color => node('span', { class: `disc ${color}` });
    const fault = game.fault === undefined ? '' : ` (${game.fault})`;
    by('players').replaceChildren(
      disc('black'), `${data.players[game.black]}  –  `, disc('white'), data.players[game.white],
      node('small', {}, `${game.result}, ${data.endings[game.ending]}${fault}`));
    by('seek').max = last();
    moves();
    graph();
    mark();
    go(game.opening);
  }

  // What a ply cost and said; empty for those of the opening.
  function cost(n) {
    const k = n - game.opening;
    if (k < 0) return 'opening';
    const us = game.us[k];
    const time = us < 1000 ? `${us} µs` : us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1e6).toFixed(2)} s`;
    const unit = game.unit[positions[n].side === 'b' ? 0 : 1];
    const work = unit ? `, ${game.work[k].toLocaleString('en')} ${unit}` : '';
    const value = game.values[k];
    return `${time}${work}${value === null ? '' : `, ${signed(value)}`}`;
  }
  const signed = value => `${value < 0 ? '−' : '+'}${(Math.abs(value) / 1000).toFixed(2)}`;

  function moves() {
    const rows = [];
    for (let n = 0; n < last(); n++) {
      const black = positions[n].side === 'b';
      if (black || n === 0) {
        rows.push(node('tr', {}, node('td', {}, `${Math.floor(positions[n].ply / 2) + 1}`)));
        if (!black) rows.at(-1).append(node('td', {}));
      }
      const button = node('button', { type: 'button', 'data-ply': n + 1 }, written(n), node('small', {}, cost(n)));
      if (n < game.opening) button.className = 'book';
      rows.at(-1).append(node('td', {}, button));
    }
    by('moves').replaceChildren(node('tbody', {}, ...rows));
  }

  // The graph: x counts plies, y is −1000 … 1000 upwards.
  function graph() {
    const board = data.boards[game.board];
    const full = 1000 / (2 * board.size);
    const area = positions.map((p, n) => `L${n} ${-full * lead(p)}`).join('');
    const parts = [
      draw('rect', { class: 'opening', x: 0, y: -1000, width: game.opening, height: 2000 }),
      draw('path', { class: 'lead', d: `M0 0${area}L${last()} 0Z` }),
      draw('line', { class: 'zero', x1: 0, x2: last(), y1: 0, y2: 0 })];
    for (const [side, name] of [['b', 'by-black'], ['w', 'by-white']]) {
      const said = game.values.map((value, k) => [k + game.opening, value])
        .filter(([n, value]) => value !== null && positions[n].side === side);
      if (said.length > 0) parts.push(draw('path', { class: name, d: 'M' + said.map(([n, v]) => `${n} ${-v}`).join('L') }));
    }
    parts.push(draw('line', { class: 'cursor', y1: -1000, y2: 1000 }));
    by('graph').setAttribute('viewBox', `0 -1050 ${Math.max(1, last())} 2100`);
    by('graph').replaceChildren(...parts);
    const silent = ['black', 'white'].filter((_, side) =>
      !game.values.some((value, k) => value !== null && (positions[k + game.opening].side === 'w' ? 1 : 0) === side));
    by('silent').textContent = silent.map(color => `${data.players[game[color]]} gives no evaluations.`).join(' ');
  }

  // The way of a move: along its circuit, or straight.
  function way(n, board, place) {
    const route = game.routes[n];
    if (route === undefined) {
      const [from, to] = [moveOf(n).slice(0, 2), moveOf(n).slice(2)].map(name => place(...point(name)));
      return `M${from.join(' ')}L${to.join(' ')}`;
    }
    const [number, stop, steps] = route;
    const circuit = board.circuits[number];
    const legs = steps > 0 ? circuit.forward : circuit.backward;
    let [path, at] = [`M${circuit.stops[stop].join(' ')}`, stop];
    for (let k = 0; k < Math.abs(steps); k++) {
      path += legs[at];
      at = (at + Math.sign(steps) + legs.length) % legs.length;
    }
    return path;
  }

  function go(to) {
    ply = Math.min(Math.max(to, 0), last());
    const board = data.boards[game.board];
    const place = (x, y) => [board.step * x, board.step * (board.size - 1 - y)];
    const parts = [draw('use', { href: `#${board.id}` }), draw('use', { href: `#${board.id}-names` })];
    const ring = (name, mark) => {
      const [cx, cy] = place(...point(name));
      return draw('circle', { class: mark, cx, cy, r: 4.6 });
    };
    if (ply > 0) parts.push(draw('path', { class: 'route', d: way(ply - 1, board, place) }));
    positions[ply].rows.forEach((row, y) => row.forEach((color, x) => {
      const [cx, cy] = place(x, y);
      if (color) parts.push(draw('circle', { class: `piece ${color === 'b' ? 'black' : 'white'}`, cx, cy, r: 3.7 }));
    }));
    if (ply > 0) parts.push(ring(moveOf(ply - 1).slice(0, 2), 'from'), ring(moveOf(ply - 1).slice(2), 'to'));
    const fen = fenOf(positions[ply], board);
    by('board').setAttribute('viewBox', board.view);
    by('board').setAttribute('aria-label', `the board: ${fen}`);
    by('board').replaceChildren(...parts);
    by('fen').textContent = fen;
    by('ply').textContent = `ply ${ply} of ${last()}`;
    by('seek').value = ply;
    const cursor = by('graph').querySelector('.cursor');
    cursor.setAttribute('x1', ply);
    cursor.setAttribute('x2', ply);
    const old = by('moves').querySelector('.now');
    if (old) old.classList.remove('now');
    const now = by('moves').querySelector(`[data-ply="${ply}"]`);
    const box = by('moves').parentElement;
    if (now) now.classList.add('now');
    const top = element => element.getBoundingClientRect().top;
    box.scrollTop = now ? box.scrollTop + top(now) - top(box) - box.clientHeight / 2 : 0;
    if (ply === last()) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    by('play').textContent = 'Play';
    by('play').setAttribute('aria-pressed', 'false');
  }
  function toggle() {
    if (timer !== null) return stop();
    if (ply === last()) go(0);
    timer = setInterval(() => go(ply + 1), DELAY);
    by('play').textContent = 'Pause';
    by('play').setAttribute('aria-pressed', 'true');
  }
  // Whoever steps by hand wants it to rest.
  const step = to => { stop(); go(to); };

  const click = (id, action) => by(id).addEventListener('click', action);
  click('first', () => step(0));
  click('back', () => step(ply - 1));
  click('next', () => step(ply + 1));
  click('last', () => step(last()));
  click('play', toggle);
  by('seek').addEventListener('input', () => step(Number(by('seek').value)));
  by('graph').addEventListener('click', event => {
    const box = by('graph').getBoundingClientRect();
    step(Math.round((event.clientX - box.left) / box.width * last()));
  });
  by('moves').addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button) step(Number(button.dataset.ply));
  });
  by('list').addEventListener('change', event => open(data.games[Number(event.target.value)]));
  for (const id of ['source', 'player', 'ending']) by(id)?.addEventListener('change', list);

  document.addEventListener('keydown', event => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    // Elements that have a use of their own for these keys.
    if (target.closest('select, input[type=range], .scroll:not(.moves), summary')) return;
    const inside = target.closest('.viewer') !== null;
    const actions = { ArrowLeft: () => step(ply - 1), ArrowRight: () => step(ply + 1) };
    if (inside) Object.assign(actions, { Home: () => step(0), End: () => step(last()) });
    if (inside && !target.closest('button')) actions[' '] = toggle;
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });

  list();
})();
