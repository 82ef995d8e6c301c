/** Overlapping tasks: only the newest may change the page. */

/**
 * A runner of tasks, each given an AbortSignal. Starting one aborts the one before, whose promise then never settles,
 * so the code after `await run(task)` runs for the newest task only.
 */
export function latest() {
  let current = null;
  return (task) => {
    current?.abort();
    const controller = (current = new AbortController());
    return new Promise((resolve, reject) => {
      const ifCurrent = (settle) => (value) => controller.signal.aborted || settle(value);
      task(controller.signal).then(ifCurrent(resolve), ifCurrent(reject));
    });
  };
}

/** Call `action` only after `milliseconds` without another call. */
export function debounced(action, milliseconds) {
  let timer = 0;
  const schedule = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
  schedule.cancel = () => clearTimeout(timer);
  return schedule;
}
