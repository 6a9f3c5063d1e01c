import SignetCore
import SignetJourney

/// A step of a journey.
public final class JourneyContinueNode: ContinueNode {
    private let step: JourneyStep
    private let engine: JourneyEngine?
    /// The positions of the actions in the step.
    private let positions: [Int]

    /// Creates a step with objects of the app's classes, or of the SDK's.
    ///
    /// A callback whose type has no class is an `AbstractCallback`. Those that only carry data are not in the list of callbacks,
    /// and are sent back unchanged.
    init(
        _ step: JourneyStep, context: FlowContext, workflow: Workflow, engine: JourneyEngine?, input: [String: Any],
        classes: [String: any Callback.Type]
    ) {
        var (actions, positions): (Callbacks, [Int]) = ([], [])
        for (index, callback) in step.callbacks.enumerated() {
            let made = (classes[callback.type] ?? BuiltInCallbacks.classes[callback.type] ?? AbstractCallback.self).init()
                .initialize(with: callback.json.object?.mapValues(\.any) ?? [:])
            if made is any MetadataCallbackProtocol { continue }
            actions.append(made)
            positions.append(index)
        }
        self.step = step
        self.engine = engine
        self.positions = positions
        super.init(context: context, workflow: workflow, input: input, actions: actions)
    }

    /// Returns the request with the answer to the step.
    ///
    /// A callback whose payload is empty is left out.
    public override func asRequest() -> Request {
        var (answer, omitted) = (step, Set<Int>())
        for (index, callback) in zip(positions, callbacks) {
            let payload = callback.payload()
            if payload.isEmpty {
                omitted.insert(index)
            } else if let filled = AbstractCallback.read(payload) {
                answer.callbacks[index] = filled
            }
        }
        answer.callbacks = answer.callbacks.enumerated().filter { !omitted.contains($0.offset) }.map(\.element)
        guard let engine else { return Request() }
        let run = engine.run(in: context)
        guard let message = try? engine.journey.nextRequest(answer, options: run.options) else { return Request() }
        run.take(Run.Answer(step: answer, content: engine.journey.content(answering: answer)))
        var request = Request(message)
        for case let callback as any RequestInterceptor in actions {
            request = callback.intercept(context: context, request: request)
        }
        return request
    }
}
