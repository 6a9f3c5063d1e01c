public import SignetCore
import SignetJourney

/// Called once, with one of three: what the journey ended with, its next step, or why it did not go on. All three are nil when it came
/// to its good end without a session. It is called on the global executor of Swift's tasks.
public typealias NodeCompletion<T: Sendable> = @Sendable (_ result: T?, _ node: sending Node?, _ error: (any Error)?) -> Void

/// One step of a journey: callbacks to show and fill in, and the way on.
public final class Node {
    /// What is asked or told, in order.
    public let callbacks: [Callback]
    /// The server's handle on the journey.
    public var authId: String { step.authId }
    /// What this walk is known by on this side.
    public let authServiceId: String
    /// The stage of the page.
    public var stage: String? { step.pageStage }
    /// The heading of the page.
    public var pageHeader: String? { step.header }
    /// The text of the page.
    public var pageDescription: String? { step.description }

    private let step: JourneyStep
    private let walk: LegacyWalk

    init(_ step: JourneyStep, walk: LegacyWalk) throws {
        self.step = step
        self.walk = walk
        authServiceId = walk.id
        callbacks = try step.callbacks.map { try walk.factory.callback($0) }
        let hidden = callbacks.compactMap { $0 as? HiddenValueCallback }
        for case let protect as PingOneProtectCallback in callbacks { protect.hidden = hidden }
    }

    /// The step with what is filled in.
    private var filled: JourneyStep {
        var step = step
        step.callbacks = callbacks.map(\.wire)
        return step
    }

    /// Fills in with what the engine has for a step as a whole: a passkey, a device's key, a device's profile.
    ///
    ///     try await node.answer { try await $0.answerDeviceBinding(with: binding) }
    ///
    /// - Parameter body: fills in. It may answer callbacks, and not add or remove any.
    public func answer<R>(_ body: (inout JourneyStep) async throws -> R) async rethrows -> R {
        var step = filled
        let result = try await body(&step)
        for (callback, wire) in zip(callbacks, step.callbacks) { callback.wire = wire }
        return result
    }

    /// Sends what is filled in. The node may be sent again after a failure.
    ///
    /// `T` says what the journey is to end with: a ``Token``, or what the process's session makes of one. What is filled in when this is
    /// called is what is sent.
    public func next<T: Sendable>(completion: @escaping NodeCompletion<T>) {
        let (step, walk) = (filled, walk)
        walk.run(completion) { try await $0.next(step, of: walk.index, options: walk.options) }
    }

    /// The same for who waits.
    /// - Throws: ``AuthError``, ``AuthApiError``, ``NetworkError``.
    public func next<T: Sendable>(_ type: T.Type = T.self) async throws -> sending NodeResult<T> {
        let (step, walk) = (filled, walk)
        return try await walk.result { try await $0.next(step, of: walk.index, options: walk.options) }
    }
}

/// What became of a step.
public enum NodeResult<T: Sendable> {
    /// The journey goes on.
    case node(Node)
    /// The journey came to its good end: with a result, or without a session.
    case success(T?)
}

/// A journey that is being walked, in the original's terms.
struct LegacyWalk: Sendable {
    let journeys: Journey
    let index: AuthenticationIndex
    let options: JourneyOptions
    let factory: CallbackFactory
    let endings: any JourneyEndings
    let id = RandomID.uuid()

    func result<T: Sendable>(
        _ request: @Sendable (Journey) async throws -> JourneyState
    ) async throws -> sending NodeResult<T> {
        do {
            try await endings.settle()
            switch try await request(journeys) {
            case .step(let step): return .node(try Node(step, walk: self))
            case .loggedIn(let token): return .success(try await endings.result(of: token, as: T.self))
            case .passed: return .success(nil)
            }
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Tells why nothing was begun, from where every completion is called.
    static func refuse<T: Sendable>(_ completion: @escaping NodeCompletion<T>, _ error: any Error) {
        Task { completion(nil, nil, error) }
    }

    func run<T: Sendable>(
        _ completion: @escaping NodeCompletion<T>, _ request: @escaping @Sendable (Journey) async throws -> JourneyState
    ) {
        Task {
            do {
                try await endings.settle()
                switch try await request(journeys) {
                case .step(let step): completion(nil, try Node(step, walk: self), nil)
                case .loggedIn(let token): completion(try await endings.result(of: token, as: T.self), nil, nil)
                case .passed: completion(nil, nil, nil)
                }
            } catch {
                completion(nil, nil, LegacyErrors.error(error))
            }
        }
    }
}

/// What a journey that has ended with a session gives: what was asked for is made of it.
package protocol JourneyEndings: Sendable {
    /// Waits for what must be over before a journey goes on.
    /// - Throws: why it is not.
    func settle() async throws
    /// Makes a `T` of a session.
    /// - Throws: ``AuthError/invalidGenericType`` for a `T` that no journey ends with.
    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T
}

/// Sessions that nobody keeps.
struct PassingEndings: JourneyEndings {
    func settle() async {}

    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T {
        guard let token = Token(token) as? T else { throw AuthError.invalidGenericType }
        return token
    }
}

extension Token {
    init(_ token: SSOToken) {
        self.init(value: token.value, successUrl: token.successURL ?? "", realm: token.realm ?? "")
    }
}
