/**
 * Connects a sandboxed child, in it, to its parent; it ends with the parent. What it returns sends a message.
 */
export function openParentChannel<Message extends object>(
  onMessage: (message: unknown) => void,
): (message: Message) => void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', onMessage);
  return (message) =>
    void process.send!(message, undefined, undefined, (error) => {
      if (error !== null) process.exit(1); // the parent is gone
    });
}
