/** A property name as one step of a JSON Pointer (RFC 6901). */
export function pointerStep(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** The property name of a step: the reverse of `pointerStep`. */
export function pointerKey(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
