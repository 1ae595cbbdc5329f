/** What tests import from `@jest/globals`: the `jest` object of the test file that runs. */
export const jest = new Proxy({}, { get: (_target, name) => globalThis.jest[name] });
