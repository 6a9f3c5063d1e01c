#if canImport(CGDBus) && canImport(Glibc)
import CGDBus
import Glibc
import SignetCore
import SignetStorage

/// A connection of GLib to a message bus, with the thread that makes it and waits for its end.
///
/// GLib reads and writes in a thread of its own. It passes each received message to a filter, which is called in that thread and
/// does not wait. So no main loop delivers messages, and the thread of this object only waits in GLib's main loop for the end of
/// the connection.
final class DBusLink: Sendable {
    /// A call that waits for its reply.
    private struct Waiting {
        let ticket: UInt64
        /// The bus name that was called.
        let destination: String?
        let continuation: CheckedContinuation<Result<DBusMessage, DBusError>, Never>
    }

    /// A receiver of signals.
    private struct Subscriber {
        let rule: DBusMatch
        let continuation: AsyncStream<DBusMessage>.Continuation
    }

    private struct State {
        /// The addresses of GLib's objects while they can be used, because pointers are not Sendable; 0 before and after.
        var connection: UInt = 0
        var context: UInt = 0
        var cancellable: UInt = 0
        var uniqueName = ""
        /// The reason for which the connection has ended; nil before that.
        var end: DBusError?
        var opening: CheckedContinuation<DBusError?, Never>?
        var lastTicket: UInt64 = 0
        /// The calls by the numbers of their messages.
        var calls: [UInt32: Waiting] = [:]
        /// The calls that were canceled before they were sent.
        var canceled: Set<UInt64> = []
        var subscribers: [UInt64: Subscriber] = [:]
        var methodCalls: AsyncStream<DBusMessage>.Continuation?

        mutating func ticket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }
    }

    private let state = Mutex(State())

    /// The number of received messages that each stream keeps for a slow reader; it loses the oldest ones first.
    static let maxWaitingMessages = 256

    /// The name that the bus gave to this connection.
    var uniqueName: String { state.withLock { $0.uniqueName } }

    /// True when the connection has ended.
    var isClosed: Bool { state.withLock { $0.end != nil } }

    // MARK: Opening and closing

    /// Connects to the bus at an address.
    /// - Returns: The error; nil for an open connection.
    func open(_ address: String) async -> DBusError? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state -> DBusError? in
                    if let end = state.end { return end }
                    state.opening = continuation
                    return nil
                }
                if let end {
                    continuation.resume(returning: end)
                } else if !DetachedThread.start({ self.run(address) }) {
                    close(DBusError(.cannotConnect, "no thread could be started for the message bus"))
                }
            }
        } onCancel: {
            close(.cancelled)
        }
    }

    /// Ends the connection, all calls and all streams.
    ///
    /// Only the first call has an effect.
    func close(_ reason: DBusError) {
        let ended = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            state.end = reason
            if let library = GDBusLibrary.loaded {
                if let cancellable = OpaquePointer(bitPattern: state.cancellable) {
                    library.functions.g_cancellable_cancel(cancellable)
                }
                if let context = OpaquePointer(bitPattern: state.context) { library.functions.g_main_context_wakeup(context) }
            }
            let before = state
            state.opening = nil
            state.calls = [:]
            state.subscribers = [:]
            state.methodCalls = nil
            return before
        }
        guard let ended else { return }
        ended.opening?.resume(returning: reason)
        for waiting in ended.calls.values { waiting.continuation.resume(returning: .failure(reason)) }
        for subscriber in ended.subscribers.values { subscriber.continuation.finish() }
        ended.methodCalls?.finish()
    }

    /// The body of the thread.
    private func run(_ address: String) {
        // The threads that GLib starts inherit this: the signals of the process are for its other threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard let library = GDBusLibrary.loaded else {
            close(DBusError(.unavailable, "GLib cannot be loaded"))
            return
        }
        let functions = library.functions
        let context = functions.g_main_context_new()
        functions.g_main_context_push_thread_default(context)
        let cancellable = functions.g_cancellable_new()
        let begins = state.withLock { state -> Bool in
            guard state.end == nil else { return false }
            state.context = UInt(bitPattern: context)
            state.cancellable = UInt(bitPattern: cancellable)
            return true
        }
        if begins {
            do throws(DBusError) {
                let connection = try library.connection(address, cancellable)
                serve(library, connection, context)
            } catch {
                close(error)
            }
        }
        state.withLock { state in
            state.context = 0
            state.cancellable = 0
        }
        if let cancellable { functions.g_object_unref(UnsafeMutableRawPointer(cancellable)) }
        functions.g_main_context_pop_thread_default(context)
        functions.g_main_context_unref(context)
    }

    /// Serves the connection until its end, and closes it.
    private func serve(_ library: GDBusLibrary, _ connection: OpaquePointer, _ context: OpaquePointer?) {
        let functions = library.functions
        // GLib may call the filter until it releases the reference, also after the filter was removed.
        let filter = functions.g_dbus_connection_add_filter(
            connection,
            { _, message, isIncoming, link in
                guard isIncoming != 0, let received = message, let data = link else { return message }
                return Unmanaged<DBusLink>.fromOpaque(data).takeUnretainedValue().receive(received)
            }, Unmanaged.passRetained(self).toOpaque(),
            { link in
                if let link { Unmanaged<DBusLink>.fromOpaque(link).release() }
            })
        // GLib emits it in this thread's main context, so this object outlives it.
        let hasEnded: @convention(c) (OpaquePointer?, Int32, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
            _, _, _, link in
            if let link { Unmanaged<DBusLink>.fromOpaque(link).takeUnretainedValue().close(.closed) }
        }
        _ = functions.g_signal_connect_data(
            UnsafeMutableRawPointer(connection), "closed", unsafeBitCast(hasEnded, to: (@convention(c) () -> Void).self),
            Unmanaged.passUnretained(self).toOpaque(), nil, 0)
        let name = functions.g_dbus_connection_get_unique_name(connection).map { String(cString: $0) } ?? ""
        let opening = state.withLock { state -> CheckedContinuation<DBusError?, Never>? in
            guard state.end == nil else { return nil }
            state.connection = UInt(bitPattern: connection)
            state.uniqueName = name
            defer { state.opening = nil }
            return state.opening
        }
        opening?.resume(returning: nil)
        while !isClosed { _ = functions.g_main_context_iteration(context, 1) }
        state.withLock { $0.connection = 0 }
        functions.g_dbus_connection_remove_filter(connection, filter)
        _ = functions.g_dbus_connection_close_sync(connection, nil, nil)
        functions.g_object_unref(UnsafeMutableRawPointer(connection))
        // GLib releases the filter's reference to this object in this context.
        while functions.g_main_context_iteration(context, 0) != 0 {}
    }

    // MARK: Sending

    /// Sends a call and waits for its reply.
    func reply(to call: DBusMessage) async -> Result<DBusMessage, DBusError> {
        let ticket = state.withLock { $0.ticket() }
        // A cancellation after the reply inserts the ticket into `canceled`, so it is removed here.
        defer { state.withLock { _ = $0.canceled.remove(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let failure = begin(call, Waiting(ticket: ticket, destination: call.destination, continuation: continuation))
                if let failure { continuation.resume(returning: .failure(failure)) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// Sends a message that has no reply.
    func send(_ message: DBusMessage) -> DBusError? {
        guard let library = GDBusLibrary.loaded else { return .closed }
        return state.withLock { state -> DBusError? in
            if let end = state.end { return end }
            switch library.send(message, on: OpaquePointer(bitPattern: state.connection)) {
            case .success: return nil
            case .failure(let error): return error
            }
        }
    }

    /// Sends a call within the lock, so that its reply finds it.
    private func begin(_ call: DBusMessage, _ waiting: Waiting) -> DBusError? {
        guard let library = GDBusLibrary.loaded else { return .closed }
        return state.withLock { state -> DBusError? in
            if let end = state.end { return end }
            if state.canceled.remove(waiting.ticket) != nil { return .cancelled }
            switch library.send(call, on: OpaquePointer(bitPattern: state.connection)) {
            case .success(let serial):
                state.calls[serial] = waiting
                return nil
            case .failure(let error): return error
            }
        }
    }

    private func cancel(_ ticket: UInt64) {
        let waiting = state.withLock { state -> Waiting? in
            if let serial = state.calls.first(where: { $0.value.ticket == ticket })?.key {
                return state.calls.removeValue(forKey: serial)
            }
            state.canceled.insert(ticket)
            return nil
        }
        waiting?.continuation.resume(returning: .failure(.cancelled))
    }

    // MARK: Streams

    /// Returns a stream of the signals that a rule fits, and the number with which it is removed.
    ///
    /// The bus sends them only after it has the rule. `onEnd` is called when the reader of the stream ends.
    func signals(_ rule: DBusMatch, onEnd: @escaping @Sendable () -> Void) -> AsyncStream<DBusMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DBusMessage.self, bufferingPolicy: .bufferingNewest(Self.maxWaitingMessages))
        let ticket = state.withLock { state -> UInt64? in
            guard state.end == nil else { return nil }
            let ticket = state.ticket()
            state.subscribers[ticket] = Subscriber(rule: rule, continuation: continuation)
            return ticket
        }
        guard let ticket else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            let wasThere = self?.state.withLock { $0.subscribers.removeValue(forKey: ticket) != nil }
            if wasThere == true { onEnd() }
        }
        return stream
    }

    /// Returns a stream of the calls of this connection's methods, instead of an earlier one.
    ///
    /// Without such a stream, GLib answers all calls with an error.
    func methodCalls() -> AsyncStream<DBusMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DBusMessage.self, bufferingPolicy: .bufferingNewest(Self.maxWaitingMessages))
        let (before, isOpen) = state.withLock { state -> (AsyncStream<DBusMessage>.Continuation?, Bool) in
            guard state.end == nil else { return (nil, false) }
            defer { state.methodCalls = continuation }
            return (state.methodCalls, true)
        }
        before?.finish()
        if !isOpen { continuation.finish() }
        return stream
    }

    // MARK: Receiving

    /// Receives a message, in GLib's thread.
    /// - Returns: The message, for GLib; nil when this object has taken over its reference.
    private func receive(_ raw: OpaquePointer) -> OpaquePointer? {
        guard let library = GDBusLibrary.loaded,
            let kind = DBusMessage.Kind(rawValue: library.functions.g_dbus_message_get_message_type(raw))
        else { return raw }
        switch kind {
        case .methodReturn, .error:
            receiveReply(library, raw, kind)
            return raw
        case .signal:
            receiveSignal(library, raw)
            return raw
        case .methodCall:
            guard let receiver = state.withLock({ $0.methodCalls }), let call = library.message(raw, kind) else { return raw }
            receiver.yield(call)
            library.functions.g_object_unref(UnsafeMutableRawPointer(raw))
            return nil
        }
    }

    private func receiveReply(_ library: GDBusLibrary, _ raw: OpaquePointer, _ kind: DBusMessage.Kind) {
        let serial = library.functions.g_dbus_message_get_reply_serial(raw)
        let sender = library.functions.g_dbus_message_get_sender(raw).map { String(cString: $0) }
        let waiting = state.withLock { state -> Waiting? in
            guard let waiting = state.calls[serial] else { return nil }
            // The bus answers in the place of a program that has gone. Any other reply comes from the called connection.
            let isExpected =
                waiting.destination?.hasPrefix(":") != true || sender == waiting.destination || sender == "org.freedesktop.DBus"
            return isExpected ? state.calls.removeValue(forKey: serial) : nil
        }
        guard let waiting else { return }
        guard let message = library.message(raw, kind) else {
            waiting.continuation.resume(
                returning: .failure(
                    DBusError(.invalidReply, "a reply is larger than Signet reads, or has values of another kind")))
            return
        }
        guard kind == .error else {
            waiting.continuation.resume(returning: .success(message))
            return
        }
        waiting.continuation.resume(
            returning: .failure(DBusError(refusedAs: message.errorName ?? "", message.body.first?.string ?? "")))
    }

    private func receiveSignal(_ library: GDBusLibrary, _ raw: OpaquePointer) {
        let subscribers = state.withLock { $0.subscribers.isEmpty ? [] : Array($0.subscribers.values) }
        guard !subscribers.isEmpty else { return }
        // The header is compared first, so that the values of other programs' signals are not read.
        let sender = library.functions.g_dbus_message_get_sender(raw).map { String(cString: $0) }
        let fitting = subscribers.filter { $0.rule.sender == sender }
        guard !fitting.isEmpty, let message = library.message(raw, .signal) else { return }
        for subscriber in fitting where subscriber.rule.matches(message) { subscriber.continuation.yield(message) }
    }
}
#endif
