import { createHash } from 'node:crypto';
import { contrast, isColor, readableOn, textOn } from '../../../core/colors.ts';
import { Html } from '../../../core/html.ts';

const DEFAULT_COLOR = '#3d4fd6';
const SEEN = 1.5;

/** Background, raised surface, text, quiet text, lines and problems of a theme. */
const THEMES = {
  light: {
    back: '#ffffff',
    surface: '#f4f5f8',
    text: '#1a1c21',
    quiet: '#5a606b',
    line: '#d5d8e0',
    edge: '#767c88',
    problem: '#b3261e',
  },
  dark: {
    back: '#16181c',
    surface: '#22252b',
    text: '#eceef2',
    quiet: '#a9b0bd',
    line: '#3d424c',
    edge: '#8a919e',
    problem: '#ffb4ab',
  },
} as const;

/** How a hub looks, as its settings say; null and what is no colour = the service's own. */
export interface HubLook {
  theme: string;
  primary_color: string | null;
  secondary_color: string | null;
  pricing_widget_color: string | null;
}

/** The style element of a hub's page, and the source of the Content-Security-Policy that allows it and nothing else. */
export interface BrandStyle {
  element: Html;
  source: string;
}

/** The colours of a hub. Whatever its agency has chosen, text in them and on them can be read. `main`: the colour of buttons. */
export function brandStyle(
  look: HubLook,
  main: 'primary_color' | 'pricing_widget_color' = 'primary_color',
): BrandStyle {
  const theme = look.theme === 'dark' ? 'dark' : 'light';
  const colors = THEMES[theme];
  const brand = [look[main], look.primary_color].find((each) => each !== null && isColor(each)) ?? DEFAULT_COLOR;
  const second = look.secondary_color !== null && isColor(look.secondary_color) ? look.secondary_color : brand;
  const values = {
    ...colors,
    brand,
    'on-brand': textOn(brand),
    // A button that hardly differs from the page has an edge.
    'button-edge': contrast(brand, colors.back) < SEEN ? colors.edge : brand,
    accent: readableOn(brand, colors.back),
    'accent-surface': readableOn(brand, colors.surface),
    second,
  };
  const rules = Object.entries(values).map(([name, value]) => `--${name}:${value}`);
  const css = `:root{color-scheme:${theme};${rules.join(';')}}`;
  const hash = createHash('sha256').update(css).digest('base64');
  // Nothing of it is anybody's text: the colours have the form of one.
  return { element: new Html(`<style>${css}</style>`), source: `'sha256-${hash}'` };
}
