import { isColor, readableOn, textOn } from '../../../../core/colors.ts';

/** Sets the colours of the brand on the page, for light and dark. What is no colour changes nothing. */
export function applyBrand(primary: string): void {
  if (!isColor(primary)) return;
  const { style } = document.documentElement;
  style.setProperty('--brand', primary);
  style.setProperty('--on-brand', textOn(primary));
  style.setProperty('--accent-light', readableOn(primary, '#ffffff'));
  style.setProperty('--accent-dark', readableOn(primary, '#1b1d22'));
}
