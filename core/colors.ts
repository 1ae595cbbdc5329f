/*
 * Colours of somebody's brand, such that what is written in them or on them stays readable: text needs a contrast of 4.5 (WCAG 2.2, 1.4.3).
 * All are hexadecimal, such as #3d4fd6.
 */

const READABLE = 4.5;
type Rgb = [number, number, number];

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

const hexOf = (rgb: Rgb) => `#${rgb.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance (WCAG 2.2). */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Whether the text is a colour that the functions here take. */
export function isColor(text: string): boolean {
  return /^#[0-9a-f]{6}$/i.test(text);
}

/** Contrast of two colours, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(rgbOf(one)), luminance(rgbOf(other))].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** The colour, mixed with black or white until it can be read on the background. */
export function readableOn(color: string, background: string): string {
  const target: Rgb = luminance(rgbOf(background)) > 0.4 ? [0, 0, 0] : [255, 255, 255];
  for (let part = 0; part <= 1; part += 0.05) {
    const mixed = rgbOf(color).map((each, index) => each + ((target[index] ?? 0) - each) * part) as Rgb;
    if (contrast(hexOf(mixed), background) >= READABLE) return hexOf(mixed);
  }
  return hexOf(target);
}

/** The colour of text on this background: white where it can be read, else nearly black. */
export function textOn(background: string): string {
  return contrast(background, '#ffffff') >= READABLE ? '#ffffff' : '#111111';
}
