// The bar between the panes: by pointer and by arrow keys.

/** Sets `--source` of `panes`, the share of the first in percent, wherever its panes are side by side or stacked. */
export function makeSplitter(bar: HTMLElement, panes: HTMLElement): void {
  const least = 15;
  const most = 85;
  const stacked = matchMedia('(max-width: 900px)');
  const set = (share: number) => {
    const kept = Math.min(most, Math.max(least, share));
    panes.style.setProperty('--source', `${kept}%`);
    bar.setAttribute('aria-valuenow', String(Math.round(kept)));
  };
  const orient = () => bar.setAttribute('aria-orientation', stacked.matches ? 'horizontal' : 'vertical');
  bar.addEventListener('pointerdown', (down) => {
    bar.setPointerCapture(down.pointerId);
    down.preventDefault();
  });
  bar.addEventListener('pointermove', ({ pointerId, clientX, clientY }) => {
    if (!bar.hasPointerCapture(pointerId)) return;
    const box = panes.getBoundingClientRect();
    set(stacked.matches ? (100 * (clientY - box.top)) / box.height : (100 * (clientX - box.left)) / box.width);
  });
  bar.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[event.key];
    if (step === undefined) return;
    set(Number(bar.getAttribute('aria-valuenow')) + step);
    event.preventDefault();
  });
  stacked.addEventListener('change', orient);
  orient();
  set(52);
}
