/** Connects a sandboxed child to its parent, with which it ends. Returns the function that sends a message. Called in the child. */
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
