import type { Toolkit } from '../toolkit.ts';

/** The built-in toolkits that have tools. Their code is loaded at the first use. */
export const BUILTIN_TOOLKITS: readonly Toolkit[] = [
  { slug: 'time', name: 'Time', iconUrl: null },
  { slug: 'calculator', name: 'Calculator', iconUrl: null },
  { slug: 'http_fetch', name: 'HTTP fetch', iconUrl: null },
  { slug: 'workspace', name: 'Workspace', iconUrl: null },
];
