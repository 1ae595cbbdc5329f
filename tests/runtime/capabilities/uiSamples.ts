const url = 'https://example.com/a?b=c&d=%20#e';

/** Trees that are shown as they are. */
export const VALID: [what: string, ui: Record<string, unknown> & { type: string }][] = [
  ['a stack', { type: 'stack', children: [{ type: 'divider' }] }],
  ['a row', { type: 'stack', direction: 'horizontal', children: [{ type: 'divider' }, { type: 'divider' }] }],
  ['a card', { type: 'card', title: 'Order', children: [{ type: 'text', text: 'Sent' }] }],
  ['a heading', { type: 'heading', text: 'Orders', level: 2 }],
  ['text', { type: 'text', text: 'Grüße 🦊\nfrom us' }],
  ['Markdown', { type: 'text', text: '**Bold**', format: 'markdown' }],
  ['a list', { type: 'list', items: ['a', 'b'], ordered: true }],
  [
    'a table',
    {
      type: 'table',
      columns: ['a', 'b'],
      rows: [
        ['x', 1],
        [true, null],
      ],
    },
  ],
  ['a table without rows', { type: 'table', columns: ['a'], rows: [] }],
  [
    'keys and values',
    {
      type: 'keyValue',
      items: [
        { key: 'Total', value: 12.5 },
        { key: 'Paid', value: false },
      ],
    },
  ],
  ['an image', { type: 'image', url: 'https://xn--bcher-kva.example:8443/a.png', alt: 'A book' }],
  ['a link', { type: 'link', url, text: 'Read on' }],
  ['a button that says something', { type: 'button', label: 'Yes', message: 'Yes, send it.' }],
  ['a button that opens an address', { type: 'button', label: 'Pay', url }],
  ['a divider', { type: 'divider' }],
  ['progress', { type: 'progress', value: 0, label: 'Upload' }],
  ['a figure', { type: 'stat', label: 'Sales', value: 1_200, change: '+3 %' }],
  ['a figure in words', { type: 'stat', label: 'Sales', value: '1.2 M' }],
  [
    'a chart',
    {
      type: 'chart',
      kind: 'line',
      title: 'Sales',
      series: [{ name: '2026', points: [{ label: 'Jan', value: -1.5 }] }],
    },
  ],
  [
    'a form',
    {
      type: 'form',
      title: 'Your order',
      submitLabel: 'Send',
      inputs: [
        ...['text', 'multiline', 'number', 'date', 'email', 'checkbox'].map((kind) => ({
          name: `${kind}_1`,
          label: kind,
          kind,
          required: true,
        })),
        { name: 'size', label: 'Size', kind: 'select', options: ['S', 'M'] },
      ],
    },
  ],
  [
    'components in components',
    { type: 'card', children: [{ type: 'stack', children: [{ type: 'card', children: [{ type: 'divider' }] }] }] },
  ],
];
