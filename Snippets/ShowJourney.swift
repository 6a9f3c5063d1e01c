// Drive a user interface from a journey: show each state, and send what the user enters.
import SignetCore
import SignetJourney

// snippet.hide
protocol Screen {
    /// Shows the state of the journey, and returns at once.
    func show(_ state: JourneySession.State) async
    /// Returns the step with the user's input; nil when the user gives up.
    func answer(to step: JourneyStep) async -> JourneyStep?
}

func logIn(with journey: Journey, on screen: any Screen) async throws {
    // snippet.show
    let session = JourneySession(journey)
    let states = await session.states()
    try await session.start("Login")
    for await state in states {
        await screen.show(state)
        do {
            switch state {
            case .idle, .asking: continue
            case .step(let step) where step.waitMilliseconds != nil: try await session.wait()
            case .step(let step), .stalled(let step, _):
                guard let answer = await screen.answer(to: step) else { return }
                try await session.next(answer)
            case .loggedIn, .completed, .failed: return
            }
        } catch is CancellationError {
            return
        } catch {
            // The next state shows the error: the same step, which can be sent again, or the end. Only an answer to a step that
            // is no longer the current one leads to no new state.
            if (error as? JourneyError)?.code == .staleStep { throw error }
        }
    }
    // snippet.hide
}
