import type { Locator } from 'playwright-core';
import type { Editor } from '../../dev/n8n/editor.cts';

/** A person's hand on the mouse and the keyboard. A text goes where the last click was. */
export class Hand {
	readonly steps = { clicks: 0, texts: 0 };

	constructor(private readonly editor: Editor) {}

	async click(target: Locator) {
		await target.click();
		this.steps.clicks++;
	}

	async type(text: string) {
		await this.editor.page.keyboard.insertText(text);
		this.steps.texts++;
	}

	async fill(parameter: string, text: string) {
		await this.click(this.editor.get(`parameter-input-${parameter}`).locator('input, textarea'));
		await this.type(text);
	}

	async choose(list: Locator, entry: Locator) {
		await this.click(list);
		await this.click(entry.filter({ visible: true }).first());
	}

	async chooseModel(name: string) {
		const list = this.editor.get('resource-locator-anyModel').getByTestId('rlc-input');
		await this.choose(list, this.editor.get('rlc-item').filter({ hasText: name }));
	}
}
