import SignetCore
import SignetJourney

/// The module that reads the responses of a journey.
public enum NodeTransformModule {
    /// The module.
    public static let config: Module<Void> = Module.of(setup: { setup in
        let workflow = setup.workflow
        setup.transform { context, response in
            let message = response.message
            let state: JourneyState
            do throws(JourneyError) {
                state = try SignetJourney.Journey.state(after: message)
            } catch {
                return node(for: error, message.body, in: context)
            }
            let members = (try? JSON.value(of: message.body))?.object ?? [:]
            return await workflow.node(for: state, members.mapValues(\.any), in: context)
        }
    })

    /// Returns the state for an error: an `ErrorNode` when the server reported it in JSON with a 4xx status.
    private static func node(for error: JourneyError, _ body: [UInt8], in context: FlowContext) -> any Node {
        let (status, members) = (error.status ?? 0, (try? JSON.value(of: body))?.object)
        if (400..<500).contains(status), let members {
            return ErrorNode(status: status, input: members.mapValues(\.any), message: error.message, context: context)
        }
        var summary: [String: any Sendable] = [:]
        for name in ["code", "reason", "message"] {
            if let number = members?[name]?.lenientInteger { summary[name] = Int(clamping: number) }
            if let text = members?[name]?.string { summary[name] = text }
        }
        return FailureNode(cause: ApiError.error(status, summary, error.description))
    }
}

extension Workflow {
    /// Returns the state of a workflow for a state of the engine.
    fileprivate func node(for state: JourneyState, _ input: [String: Any], in context: FlowContext) async -> any Node {
        switch state {
        case .step(let step):
            let classes = await CallbackRegistry.shared.callbacks
            let node = JourneyContinueNode(
                step, context: context, workflow: self, engine: try? await engine(), input: input, classes: classes)
            CallbackRegistry.shared.inject(continueNode: node, journey: self)
            return node
        case .loggedIn(let token):
            return SuccessNode(input: input, session: SSOTokenImpl(token))
        case .completed(let end):
            return SuccessNode(
                input: input, session: SSOTokenImpl(value: "", successUrl: end.successURL ?? "", realm: end.realm ?? ""))
        }
    }
}
