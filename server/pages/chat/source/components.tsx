import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useId } from 'preact/hooks';
import { Markdown, SafeLink, safeAddress } from './markdown.tsx';
import { translate } from './texts.ts';
import type { UiNode } from './types.ts';

/*
 * The components of generative UI (the document's schema MessageUi). The server has checked them; here every field is still only text,
 * a number, or an address that `safeAddress` lets through. A type that this page does not know shows nothing.
 */

/** What components may do. Undefined: the message is not the newest, and its buttons rest. */
export type Say = ((message: string) => void) | undefined;

const words = (value: unknown): string =>
  typeof value === 'boolean'
    ? translate(value ? 'yes' : 'no')
    : value === null || value === undefined
      ? '–'
      : String(value);
const list = <T,>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

function Children({ of, say }: { of: unknown; say: Say }) {
  return (
    <>
      {list<UiNode>(of).map((child, index) => (
        <Component key={index} node={child} say={say} />
      ))}
    </>
  );
}

const isQuickAnswer = (node: UiNode) => node?.type === 'button' && typeof node.message === 'string';

function Stack({ node, say }: { node: UiNode; say: Say }) {
  const children = list<UiNode>(node.children);
  const way =
    children.length > 0 && children.every(isQuickAnswer) ? 'quick' : node.direction === 'horizontal' ? 'row' : 'column';
  return (
    <div class={`stack ${way}`}>
      <Children of={children} say={say} />
    </div>
  );
}

function Button({ node, say }: { node: UiNode; say: Say }) {
  const { label, message, url } = node;
  if (typeof url === 'string') {
    return (
      <span class="button link">
        <SafeLink href={url}>{words(label)}</SafeLink>
      </span>
    );
  }
  return (
    <button type="button" class="button" disabled={!say} onClick={() => say?.(String(message))}>
      {words(label)}
    </button>
  );
}

function DataTable({ node }: { node: UiNode }) {
  return (
    // biome-ignore lint/a11y: who uses a keyboard scrolls it; a landmark for each would be too many, and it is no group of fields.
    <div class="scroll" role="group" tabIndex={0} aria-label={translate('table')}>
      <table>
        <thead>
          <tr>
            {list(node.columns).map((column, index) => (
              <th key={index} scope="col">
                {words(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list<unknown[]>(node.rows).map((row, index) => (
            <tr key={index}>
              {list(row).map((cell, place) => (
                <td key={place} class={typeof cell === 'number' ? 'number' : ''}>
                  {words(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Series {
  name: string;
  points: { label: string; value: number }[];
}

/** A chart as a picture, with its figures as a table for those who do not see it. */
function Chart({ node }: { node: UiNode }) {
  const series = list<Series>(node.series).map(({ name, points }) => ({
    name,
    points: list<Series['points'][0]>(points),
  }));
  const labels = series[0]?.points.map(({ label }) => label) ?? [];
  const values = series.flatMap(({ points }) => points.map(({ value }) => Number(value) || 0));
  const top = Math.max(0, ...values);
  const bottom = Math.min(0, ...values);
  const span = top - bottom || 1;
  const [width, height] = [320, 140];
  const y = (value: number) => height - ((value - bottom) / span) * height;
  const step = width / Math.max(1, labels.length);
  const bar = (step * 0.7) / Math.max(1, series.length);
  const name = words(node.title ?? series.map((each) => each.name).join(', '));
  return (
    <figure class="chart">
      <figcaption>{name}</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={translate('chart', { name })}
      >
        <line x1="0" x2={width} y1={y(0)} y2={y(0)} class="axis" />
        {series.map(({ points }, index) =>
          node.kind === 'line' ? (
            <polyline
              key={index}
              class={`line s${index}`}
              points={points.map(({ value }, place) => `${(place + 0.5) * step},${y(Number(value) || 0)}`).join(' ')}
            />
          ) : (
            points.map(({ value }, place) => {
              const at = y(Math.max(0, Number(value) || 0));
              const tall = Math.abs(y(Number(value) || 0) - y(0));
              return (
                <rect
                  key={`${index} ${place}`}
                  class={`bar s${index}`}
                  x={place * step + step * 0.15 + index * bar}
                  y={at}
                  width={bar * 0.92}
                  height={tall}
                  rx="2"
                />
              );
            })
          ),
        )}
      </svg>
      {labels.length <= 12 && (
        <div class="labels" aria-hidden="true">
          {labels.map((label, index) => (
            <span key={index}>{label}</span>
          ))}
        </div>
      )}
      {series.length > 1 && (
        <div class="legend" aria-hidden="true">
          {series.map((each, index) => (
            <span key={index} class={`s${index}`}>
              {each.name}
            </span>
          ))}
        </div>
      )}
      <table class="hidden">
        <caption>{name}</caption>
        <tbody>
          {series.map((each) =>
            each.points.map(({ label, value }, index) => (
              <tr key={`${each.name} ${index}`}>
                <th scope="row">{`${each.name} ${label}`}</th>
                <td>{words(value)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </figure>
  );
}

interface Input {
  name: string;
  label: string;
  kind: string;
  required?: boolean;
  options?: string[];
}

function Field({ input, id, disabled }: { input: Input; id: string; disabled: boolean }) {
  const { name, kind, required, options } = input;
  const common = { id, name, required: required === true && kind !== 'checkbox', disabled };
  if (kind === 'multiline') return <textarea {...common} rows={3} maxLength={4000} />;
  if (kind === 'checkbox') return <input {...common} type="checkbox" required={required === true} />;
  if (kind === 'select') {
    return (
      <select {...common}>
        <option value="">{translate('choose')}</option>
        {list<string>(options).map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  }
  const type = kind === 'number' || kind === 'date' || kind === 'email' ? kind : 'text';
  // The types of an input are one by one in the types of its attributes.
  return <input {...common} type={type as 'text'} {...(kind === 'number' ? { step: 'any' } : {})} maxLength={1000} />;
}

/** A form: what is filled in becomes the next message, a line for each input. */
function Form({ node, say }: { node: UiNode; say: Say }) {
  const id = useId();
  const inputs = list<Input>(node.inputs);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const lines = inputs.map(({ name, label, kind }) => {
      const value = kind === 'checkbox' ? translate(data.has(name) ? 'yes' : 'no') : String(data.get(name) ?? '');
      return `${label}: ${value}`;
    });
    say?.(lines.join('\n'));
  };
  return (
    <form class="form" onSubmit={submit}>
      {node.title !== undefined && <p class="title">{words(node.title)}</p>}
      {inputs.map((input) => (
        <div key={input.name} class={input.kind === 'checkbox' ? 'field check' : 'field'}>
          <label for={`${id}-${input.name}`}>{input.label}</label>
          <Field input={input} id={`${id}-${input.name}`} disabled={!say} />
        </div>
      ))}
      <button type="submit" class="button first" disabled={!say}>
        {words(node.submitLabel ?? translate('submit'))}
      </button>
    </form>
  );
}

function Framed({ title, children }: { title: unknown; children: ComponentChildren }) {
  return (
    <div class="card">
      {title !== undefined && <p class="title">{words(title)}</p>}
      {children}
    </div>
  );
}

/** One component, with those in it. */
export function Component({ node, say }: { node: UiNode; say: Say }) {
  if (typeof node !== 'object' || node === null) return null;
  switch (node.type) {
    case 'stack':
      return <Stack node={node} say={say} />;
    case 'card':
      return (
        <Framed title={node.title}>
          <Children of={node.children} say={say} />
        </Framed>
      );
    case 'heading': {
      return <h2 class={`d${Number(node.level) || 1}`}>{words(node.text)}</h2>;
    }
    case 'text':
      return node.format === 'markdown' ? (
        <Markdown source={words(node.text)} />
      ) : (
        <p class="plain">{words(node.text)}</p>
      );
    case 'list': {
      const items = list(node.items).map((item, index) => <li key={index}>{words(item)}</li>);
      return node.ordered === true ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return <DataTable node={node} />;
    case 'keyValue':
      return (
        <dl>
          {list<{ key: string; value: unknown }>(node.items).map(({ key, value }, index) => (
            <div key={index}>
              <dt>{key}</dt>
              <dd>{words(value)}</dd>
            </div>
          ))}
        </dl>
      );
    case 'image': {
      const address = safeAddress(String(node.url));
      if (!address?.startsWith('https:')) return <p>{words(node.alt)}</p>;
      return <img src={address} alt={words(node.alt)} loading="lazy" referrerpolicy="no-referrer" />;
    }
    case 'link':
      return (
        <p>
          <SafeLink href={String(node.url)}>{words(node.text)}</SafeLink>
        </p>
      );
    case 'button':
      return <Button node={node} say={say} />;
    case 'divider':
      return <hr />;
    case 'progress': {
      const label = words(node.label ?? `${node.value} %`);
      return (
        <label class="progress">
          <span>{label}</span>
          <progress max={100} value={Number(node.value) || 0} />
        </label>
      );
    }
    case 'stat':
      return (
        <div class="stat">
          <span>{words(node.label)}</span>
          <strong>{words(node.value)}</strong>
          {node.change !== undefined && <span class="change">{words(node.change)}</span>}
        </div>
      );
    case 'chart':
      return <Chart node={node} />;
    case 'form':
      return <Form node={node} say={say} />;
    default:
      return null;
  }
}
