const COMMAND = /^\/([a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?)(?:\s+([\s\S]*))?$/;

/** The slash command that a message begins with, and the text after it; null when it begins with none. */
export function commandIn(content: string): { name: string; text: string } | null {
  const [, name, text = ''] = COMMAND.exec(content.trim()) ?? [];
  return name === undefined ? null : { name, text: text.trim() };
}

/** A command's prompt with the text that was typed after it. */
export function expandCommand(prompt: string, text: string): string {
  return text === '' ? prompt : `${prompt}\n\n${text}`;
}
