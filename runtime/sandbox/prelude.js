/*
 * Evaluated inside QuickJS before the code of an agent. Gives the code `console` and timers, and gives the worker functions that turn
 * values and errors into text. They run inside QuickJS, so that getters, proxies and toJSON of the code run under the limits of the
 * code. Built-ins are copied first, because the code may change them.
 */
(write, mostLogged) => {
  const { stringify } = JSON;
  const { keys } = Object;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { apply } = Reflect;
  const { includes, slice, split } = String.prototype;
  const { toString: symbolText } = Symbol.prototype;
  const { toString: regExpText } = RegExp.prototype;
  const { toISOString, getTime } = Date.prototype;
  const { forEach: eachOfMap } = Map.prototype;
  const { forEach: eachOfSet } = Set.prototype;
  const [ErrorClass, DateClass, RegExpClass, MapClass, SetClass, PromiseClass, BufferClass, TypeErrorClass] = [
    Error,
    Date,
    RegExp,
    Map,
    Set,
    Promise,
    ArrayBuffer,
    TypeError,
  ];
  const MAX_DEPTH = 20;
  const MAX_STACK_LINES = 8;
  const FULL = {};
  const begin = (text, length) => apply(slice, text, [0, length]);

  /** A value as JSON, cut to `max` characters. Values that JSON does not have are written in a similar way. */
  function show(value, max) {
    let text = '';
    const above = [];
    const put = (piece) => {
      text += piece;
      if (text.length > max) throw FULL;
    };
    const visit = (one) => {
      if (typeof one === 'string') return put(stringify(begin(one, max + 1)));
      if (typeof one === 'bigint') return put(`${one}n`);
      if (typeof one === 'symbol') return put(apply(symbolText, one, []));
      if (one === null || (typeof one !== 'object' && typeof one !== 'function')) {
        return put(one === 0 && 1 / one < 0 ? '-0' : `${one}`);
      }
      for (let index = 0; index < above.length; index += 1) if (above[index] === one) return put('[circular]');
      if (above.length >= MAX_DEPTH) return put(isArray(one) ? '[…]' : '{…}');
      above[above.length] = one;
      try {
        visitObject(one);
      } catch (error) {
        if (error === FULL) throw error;
        put(`[cannot be shown: ${brief(error)}]`);
      }
      above.length -= 1;
    };
    const visitObject = (one) => {
      if (typeof one === 'function') return put(`[function ${one.name}]`);
      if (one instanceof ErrorClass) return put(`[${brief(one)}]`);
      if (one instanceof DateClass) {
        return put(Number.isNaN(apply(getTime, one, [])) ? '[invalid date]' : `"${apply(toISOString, one, [])}"`);
      }
      if (one instanceof RegExpClass) return put(apply(regExpText, one, []));
      if (one instanceof PromiseClass) return put('[promise]');
      if (one instanceof BufferClass) return put(`[ArrayBuffer of ${one.byteLength} bytes]`);
      let count = 0;
      const next = () => {
        if (count > 0) put(',');
        count += 1;
      };
      if (one instanceof MapClass) {
        put('Map {');
        const entry = (inner, key) => {
          next();
          visit(key);
          put(':');
          visit(inner);
        };
        apply(eachOfMap, one, [entry]);
        return put('}');
      }
      if (one instanceof SetClass) {
        put('Set {');
        const entry = (inner) => {
          next();
          visit(inner);
        };
        apply(eachOfSet, one, [entry]);
        return put('}');
      }
      if (typeof one.toJSON === 'function') return visit(one.toJSON());
      if (isArray(one) || isView(one)) {
        put('[');
        for (let index = 0; index < one.length; index += 1) {
          next();
          visit(one[index]);
        }
        return put(']');
      }
      put('{');
      const names = keys(one);
      for (let index = 0; index < names.length; index += 1) {
        next();
        visit(names[index]);
        put(':');
        visit(one[names[index]]);
      }
      put('}');
    };
    try {
      visit(value);
    } catch (error) {
      if (error !== FULL) return `[cannot be shown: ${brief(error)}]`;
      return `${begin(text, max)}… (cut off here)`;
    }
    return text;
  }

  /** Name and message of an error. */
  function brief(error) {
    try {
      if (error instanceof ErrorClass) return begin(`${error.name}: ${error.message}`, 500);
      return typeof error === 'object' || typeof error === 'function' ? 'something that is no error' : show(error, 500);
    } catch {
      return 'an error that cannot be shown';
    }
  }

  /** What was thrown, with the first lines of its stack. */
  function explain(error) {
    try {
      if (!(error instanceof ErrorClass)) return `Thrown: ${show(error, 2000)}`;
      const lines = apply(split, typeof error.stack === 'string' ? error.stack : '', ['\n']);
      let text = begin(`${error.name}: ${error.message}`, 2000);
      for (let index = 0, shown = 0; index < lines.length && shown < MAX_STACK_LINES; index += 1) {
        if (lines[index] === '' || apply(includes, lines[index], ['prelude.js'])) continue;
        text += `\n${begin(lines[index], 200)}`;
        shown += 1;
      }
      return text;
    } catch {
      return `Thrown: ${brief(error)}`;
    }
  }

  let left = mostLogged;
  function log(...values) {
    if (left < 0) return;
    let line = '';
    for (let index = 0; index < values.length && line.length <= left; index += 1) {
      const value = values[index];
      line += `${index > 0 ? ' ' : ''}${typeof value === 'string' ? begin(value, left + 1) : show(value, left)}`;
    }
    const room = left;
    left -= line.length + 1;
    write(left < 0 ? `${begin(line, room)}… (what else is logged is left out)` : line);
  }
  globalThis.console = { log, info: log, debug: log, warn: log, error: log };

  // Timers do not wait. They run one after the other, in the order of their times, when no other work is left.
  const timers = [];
  let now = 0;
  let lastId = 0;
  globalThis.setTimeout = (callback, delay = 0, ...values) => {
    if (typeof callback !== 'function') throw new TypeErrorClass('setTimeout takes a function');
    lastId += 1;
    timers[timers.length] = { id: lastId, at: now + (delay > 0 ? +delay : 0), callback, values };
    return lastId;
  };
  globalThis.clearTimeout = (id) => {
    for (let index = 0; index < timers.length; index += 1)
      if (timers[index].id === id) timers[index].callback = () => {};
  };
  /** Runs the next timer. False when there is none. */
  function runTimer() {
    let first = -1;
    for (let index = 0; index < timers.length; index += 1) {
      if (first < 0 || timers[index].at < timers[first].at) first = index;
    }
    if (first < 0) return false;
    const { at, callback, values } = timers[first];
    for (let index = first; index < timers.length - 1; index += 1) timers[index] = timers[index + 1];
    timers.length -= 1;
    now = at;
    apply(callback, undefined, values);
    return true;
  }

  return { show, explain, runTimer };
};
