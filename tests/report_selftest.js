// Works the page of a report as a reader does, and writes what it found into the page.
const found = { games: [], errors: window.errors, harmed: window.harmed === true };
const by = id => document.getElementById(id);
const press = (key, target = by('board')) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const ply = () => Number(by('seek').value);
const labels = () => [...by('list').querySelectorAll('label')];
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));
const choose = (id, value) => {
  by(id).value = value;
  by(id).dispatchEvent(new Event('change', { bubbles: true }));
};
const pieces = () => by('board').querySelectorAll('.piece').length;
const written = () => [...by('fen').textContent.split(' ')[0]].filter(c => c === 'b' || c === 'w').length;

(async () => {
  try {
    // Every game, stepped through by the arrow keys.
    for (let n = 0; n < labels().length; n++) {
      labels()[n].click();
      const last = Number(by('seek').max);
      const opened = ply();
      press('Home');
      const fens = [by('fen').textContent];
      const drawn = [pieces() === written()];
      for (let k = 0; k < last; k++) {
        press('ArrowRight');
        fens.push(by('fen').textContent);
        drawn.push(pieces() === written() && by('board').querySelectorAll('.route').length === 1);
      }
      press('ArrowRight');
      found.games.push({ opened, fens, end: ply(), drawn: drawn.every(yes => yes), chosen: labels()[n].className });
    }
    // Every way to go somewhere.
    const last = Number(by('seek').max);
    const went = [];
    for (const id of ['first', 'next', 'next', 'back', 'last']) { by(id).click(); went.push(ply()); }
    press('Home'); went.push(ply());
    press('End'); went.push(ply());
    press('ArrowLeft', document.body); went.push(ply());
    by('seek').value = 5; by('seek').dispatchEvent(new Event('input', { bubbles: true })); went.push(ply());
    by('moves').querySelector('[data-ply="3"]').click(); went.push(ply());
    const box = by('graph').getBoundingClientRect();
    by('graph').dispatchEvent(new MouseEvent('click', { clientX: box.left + box.width * 7 / last, clientY: box.top + 3, bubbles: true }));
    went.push(ply());
    found.went = went;
    found.last = last;
    found.now = by('moves').querySelector('.now').dataset.ply;
    by('last').click();
    const [row, list] = [by('moves').querySelector('.now'), by('moves').parentElement].map(e => e.getBoundingClientRect());
    found.visible = row.top >= list.top && row.bottom <= list.bottom + 1;
    by('seek').value = 7; by('seek').dispatchEvent(new Event('input', { bubbles: true }));
    // A key that belongs to a list of choices stays with it.
    press('ArrowRight', by('player'));
    found.stayed = ply() === 7;
    // It plays by itself until it is told to rest.
    press('Home');
    by('play').click();
    await wait(2500);
    found.played = ply();
    press(' ');
    const rested = ply();
    await wait(2500);
    found.rests = ply() === rested && by('play').textContent === 'Play';
    // Filters.
    const options = id => [...by(id).options].map(option => option.value).filter(value => value !== '');
    const counts = id => options(id).map(value => {
      choose(id, value);
      const count = labels().length;
      found.said = by('count').textContent;
      choose(id, '');
      return count;
    });
    found.players = counts('player');
    found.endings = counts('ending');
    found.all = labels().length;
    found.graph = by('graph').querySelectorAll('.by-black, .by-white').length;
    found.fits = document.documentElement.scrollWidth <= window.innerWidth;
    found.width = window.innerWidth;
  } catch (error) {
    window.errors.push(String(error.stack));
  }
  const pre = document.createElement('pre');
  pre.id = 'selftest';
  pre.textContent = JSON.stringify(found);
  document.body.append(pre);
})();
