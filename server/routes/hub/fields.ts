import { Html, type HtmlContent, html } from '../../../core/html.ts';

/** A text of a form of 1 to `max` characters, as the database counts them; undefined for another one. Blanks around it do not count. */
export function textOf(form: URLSearchParams, name: string, max: number): string | undefined {
  const text = (form.get(name) ?? '').trim();
  const { length } = [...text];
  return length >= 1 && length <= max ? text : undefined;
}

/** A field of a form with its label, and the problem that it has. */
export function field({
  name,
  label,
  value = '',
  problem,
  type = 'text',
  autocomplete,
  isRequired = false,
}: {
  name: string;
  label: string;
  value?: string;
  problem?: string | undefined;
  type?: 'text' | 'email';
  autocomplete: string;
  isRequired?: boolean;
}): HtmlContent {
  const hasProblem = problem !== undefined;
  const described = hasProblem && html` aria-invalid="true" aria-describedby="${name}-problem"`;
  const required = isRequired && new Html(' required');
  return html`<label for="${name}">${label}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}"${described}${required}>
${hasProblem && html`<span class="problem" id="${name}-problem">${problem}</span>`}</label>`;
}

/** Says at the top of a form that it has problems. */
export function problemSummary(text: string): HtmlContent {
  return html`<p class="problem" role="alert">${text}</p>`;
}
