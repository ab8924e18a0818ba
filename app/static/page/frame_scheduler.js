// Draw at most once per frame of the screen, however many messages come: the newest one is drawn.

/** Asks the browser for the next frame, once. */
export class FrameScheduler {
  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
    this.pending = false;
  }

  /** Draw at the next frame. */
  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }
}
