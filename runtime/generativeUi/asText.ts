type Component = Record<string, unknown>;

/** Characters of the text of a tree. */
const MAX_CHARACTERS = 8_000;

/** The components of a reply in Markdown, for channels that show text only. What can only be pressed or filled in is named. */
export function uiAsMarkdown(ui: Component): string {
  return blockOf(ui).slice(0, MAX_CHARACTERS).trim();
}

function blockOf(component: Component): string {
  const { type } = component;
  switch (type) {
    case 'stack':
    case 'card':
      return joined([boldOf(component.title), ...listOf(component.children).map(blockOf)], '\n\n');
    case 'heading':
      return boldOf(component.text);
    case 'text':
      return textOf(component.text);
    case 'list':
      return (component.items as unknown[])
        .map((item, place) => `${component.ordered === true ? `${place + 1}.` : '-'} ${textOf(item)}`)
        .join('\n');
    case 'table': {
      const columns = (component.columns as unknown[]).map(textOf);
      const rows = component.rows as unknown[][];
      return rows
        .map((row) => `- ${row.map((cell, place) => `${columns[place] ?? ''}: ${textOf(cell)}`).join(', ')}`)
        .join('\n');
    }
    case 'keyValue':
      return listOf(component.items)
        .map(({ key, value }) => `${textOf(key)}: ${textOf(value)}`)
        .join('\n');
    case 'image':
      return joined([textOf(component.alt), textOf(component.url)], ': ');
    case 'link':
      return joined([textOf(component.text), textOf(component.url)], ': ');
    case 'button':
      return joined([textOf(component.label), textOf(component.url ?? component.message)], ': ');
    case 'progress':
      return joined([textOf(component.label), `${textOf(component.value)} %`], ': ');
    case 'stat':
      return joined([`${textOf(component.label)}: ${textOf(component.value)}`, textOf(component.change)], ', ');
    case 'chart':
      return joined([boldOf(component.title), ...listOf(component.series).map(seriesOf)], '\n');
    case 'form':
      return joined(
        [boldOf(component.title), ...listOf(component.inputs).map(({ label }) => `- ${textOf(label)}`)],
        '\n',
      );
    default:
      return '';
  }
}

function seriesOf({ name, points }: Component): string {
  const values = listOf(points).map(({ label, value }) => `${textOf(label)} ${textOf(value)}`);
  return joined([textOf(name), values.join(', ')], ': ');
}

function listOf(value: unknown): Component[] {
  return Array.isArray(value) ? (value as Component[]) : [];
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

function boldOf(value: unknown): string {
  const text = textOf(value);
  return text === '' ? '' : `**${text}**`;
}

function joined(parts: readonly string[], between: string): string {
  return parts.filter((part) => part !== '').join(between);
}
