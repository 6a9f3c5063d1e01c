import Foundation
public import SignetCore
public import SignetStorage

/// A key protector that forwards its calls to another one.
///
/// A test can make its calls fail or block. It counts the calls.
public final class FaultyKeyProtector: KeyProtector {
    /// The fault of a call.
    public enum Fault: Sendable, Hashable {
        /// The call throws this error and has no other effect.
        case failing(StoreError)
        /// The call blocks its thread for this duration and is forwarded afterwards.
        case blocking(Duration)
    }

    /// The name of the key protector that receives the forwarded calls.
    public let name: String
    private let inner: any KeyProtector
    private let state: Mutex<(fault: Fault?, wraps: Int, unwraps: Int)>

    /// Creates a key protector in front of `inner`, with an optional fault.
    public init(_ inner: any KeyProtector, fault: Fault? = nil) {
        self.inner = inner
        name = inner.name
        state = Mutex((fault, 0, 0))
    }

    /// The fault of all calls from now on; nil to forward them without a fault.
    public var fault: Fault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    /// The number of calls to `wrap`, including those with a fault.
    public var wraps: Int { state.withLock { $0.wraps } }
    /// The number of calls to `unwrap`, including those with a fault.
    public var unwraps: Int { state.withLock { $0.unwraps } }

    /// Applies the fault, then forwards the call.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        state.withLock { $0.wraps += 1 }
        try applyFault()
        return try inner.wrap(dataKey, context: context)
    }

    /// Applies the fault, then forwards the call.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        state.withLock { $0.unwraps += 1 }
        try applyFault()
        return try inner.unwrap(wrapped, context: context)
    }

    private func applyFault() throws(StoreError) {
        switch fault {
        case nil: return
        case .failing(let error): throw error
        case .blocking(let time): Thread.sleep(forTimeInterval: time / .seconds(1))
        }
    }
}
