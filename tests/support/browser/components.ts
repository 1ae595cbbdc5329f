/** A tree with every component of generative UI. */
export const EVERY_COMPONENT = {
  type: 'stack',
  children: [
    { type: 'heading', text: 'Your rental', level: 2 },
    { type: 'text', text: 'Plain <b>text</b>' },
    { type: 'text', text: 'With **Markdown**', format: 'markdown' },
    {
      type: 'card',
      title: 'Details',
      children: [
        {
          type: 'keyValue',
          items: [
            { key: 'Bike', value: 'City' },
            { key: 'Insurance', value: true },
            { key: 'Lock', value: null },
          ],
        },
        { type: 'progress', value: 60, label: 'Payment' },
        { type: 'divider' },
        { type: 'list', items: ['Helmet', 'Bell'], ordered: true },
      ],
    },
    {
      type: 'stack',
      direction: 'horizontal',
      children: [
        { type: 'stat', label: 'Price', value: '54 €', change: '−10 %' },
        { type: 'stat', label: 'Free', value: 7 },
      ],
    },
    {
      type: 'table',
      columns: ['Model', 'Per day'],
      rows: [
        ['City', 18],
        ['Cargo', true],
      ],
    },
    { type: 'image', url: 'https://pictures.invalid/bike.png', alt: 'A bike' },
    { type: 'link', url: 'https://example.com/terms', text: 'Terms' },
    {
      type: 'chart',
      kind: 'bar',
      title: 'Rentals',
      series: [
        {
          name: '2025',
          points: [
            { label: 'Jan', value: 12 },
            { label: 'Feb', value: -3 },
          ],
        },
        {
          name: '2026',
          points: [
            { label: 'Jan', value: 15 },
            { label: 'Feb', value: 24 },
          ],
        },
      ],
    },
    {
      type: 'chart',
      kind: 'line',
      series: [
        {
          name: 'Visits',
          points: [
            { label: 'Mon', value: 1 },
            { label: 'Tue', value: 2 },
          ],
        },
      ],
    },
    {
      type: 'form',
      title: 'Book',
      inputs: [
        { name: 'name', label: 'Name', kind: 'text', required: true },
        { name: 'note', label: 'Note', kind: 'multiline' },
        { name: 'days', label: 'Days', kind: 'number' },
        { name: 'day', label: 'Day', kind: 'date' },
        { name: 'mail', label: 'Mail', kind: 'email' },
        { name: 'size', label: 'Size', kind: 'select', options: ['S', 'M', 'L'] },
        { name: 'ok', label: 'I agree', kind: 'checkbox', required: true },
      ],
      submitLabel: 'Book it',
    },
    {
      type: 'stack',
      children: [
        { type: 'button', label: 'Opening hours', message: 'When are you open?' },
        { type: 'button', label: 'Routes', message: 'Show me routes' },
      ],
    },
    { type: 'button', label: 'Our page', url: 'https://example.com' },
  ],
};
