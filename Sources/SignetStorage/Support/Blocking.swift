import Dispatch

/// Work that may block for long: a TPM takes a second, a keyring asks the person. It gets a thread of its own, so that no task
/// of the app has to wait for a thread meanwhile.
package enum Blocking {
    private static let queue = DispatchQueue(label: "signet.blocking", attributes: .concurrent)

    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try outcome.get()
    }
}
