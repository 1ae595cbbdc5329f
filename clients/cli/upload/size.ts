const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** So many bytes for people: `512 bytes`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const rounded = unit === 0 || size >= 100 ? Math.round(size) : Math.round(size * 10) / 10;
  return bytes === 1 ? '1 byte' : `${rounded} ${UNITS[unit]}`;
}
