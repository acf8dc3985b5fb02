export function embed(template: string, data: unknown): string;
