import Foundation
public import SignetCore
public import SignetStorage
import Synchronization

/// A key protector that does what another one does, or fails, or takes its time, as a test tells it. It counts what it was asked.
public final class FaultyKeyProtector: KeyProtector {
    /// What happens to a call.
    public enum Fault: Sendable, Hashable {
        /// It fails, and nothing is done.
        case failing(StoreError)
        /// It blocks its thread for so long, and is done then.
        case blocking(Duration)
    }

    /// The name of the key protector behind it.
    public let name: String
    private let inner: any KeyProtector
    private let state: Mutex<(fault: Fault?, wraps: Int, unwraps: Int)>

    /// A key protector in front of `inner`, with a fault from the start or none.
    public init(_ inner: any KeyProtector, fault: Fault? = nil) {
        self.inner = inner
        name = inner.name
        state = Mutex((fault, 0, 0))
    }

    /// What happens to the calls from now on; nil for what the key protector behind it does.
    public var fault: Fault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    /// How often it was asked to seal, faults included.
    public var wraps: Int { state.withLock { $0.wraps } }
    /// How often it was asked to open, faults included.
    public var unwraps: Int { state.withLock { $0.unwraps } }

    /// As the key protector behind it, after the fault.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        state.withLock { $0.wraps += 1 }
        try suffer()
        return try inner.wrap(dataKey, context: context)
    }

    /// As the key protector behind it, after the fault.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        state.withLock { $0.unwraps += 1 }
        try suffer()
        return try inner.unwrap(wrapped, context: context)
    }

    private func suffer() throws(StoreError) {
        switch fault {
        case nil: return
        case .failing(let error): throw error
        case .blocking(let time): Thread.sleep(forTimeInterval: time / .seconds(1))
        }
    }
}
