// A canvas for tests without a browser: it writes down every call and every property that is set.

/** A 2d context: `log` has [name, ...arguments] of every call, `set` the properties as last set. */
export function fakeContext() {
  /** @type {[string, ...any[]][]} */
  const log = [];
  /** @type {Record<string, any>} */
  const set = {};
  const context = /** @type {CanvasRenderingContext2D} */ (
    new Proxy(set, {
      get: (target, name) => {
        if (typeof name !== "string" || name in target) return Reflect.get(target, name);
        return (/** @type {any[]} */ ...args) => {
          log.push([name, ...args]);
          return name === "measureText" ? { width: 10 } : undefined;
        };
      },
      set: (target, name, value) => {
        if (typeof name === "string") log.push([`set ${name}`, value]);
        return Reflect.set(target, name, value);
      },
    })
  );
  return { context, log };
}

/**
 * A canvas with such a context, and the parts of a browser that the painter needs.
 * @param {number} width
 * @param {number} height
 */
export function fakeCanvas(width, height) {
  const { context, log } = fakeContext();
  Object.assign(globalThis, {
    window: { devicePixelRatio: 1 },
    ResizeObserver: class {
      /** Nothing is resized. */
      observe() {}
    },
  });
  const canvas = /** @type {HTMLCanvasElement} */ (
    /** @type {unknown} */ ({ clientWidth: width, clientHeight: height, getContext: () => context })
  );
  return { canvas, log };
}
