/** Overlapping work: only what was asked last may change the page. */

/**
 * A runner of tasks, each given an AbortSignal. Starting one aborts the one before, whose promise then never settles,
 * so what stands after `await run(task)` happens for the newest task only.
 */
export function latest() {
  let controller = null;
  return (task) => {
    controller?.abort();
    const own = (controller = new AbortController());
    return new Promise((resolve, reject) => {
      const ifCurrent = (settle) => (value) => own.signal.aborted || settle(value);
      task(own.signal).then(ifCurrent(resolve), ifCurrent(reject));
    });
  };
}

/** Call `action` only after `milliseconds` without another call. */
export function debounced(action, milliseconds) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
