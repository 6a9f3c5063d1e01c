// Drive a user interface from a walk: it shows each state, and sends what the person enters.
import SignetCore
import SignetJourney

// snippet.hide
protocol Screen {
    /// Shows where the walk stands, and returns at once.
    func show(_ state: JourneySession.State) async
    /// The step as the person has filled it in; nil when they give up.
    func answer(to step: JourneyStep) async -> JourneyStep?
}

func walk(_ journeys: Journey, on screen: any Screen) async throws {
    // snippet.show
    let walk = JourneySession(journeys)
    let states = await walk.states()
    try await walk.start("Login")
    for await state in states {
        await screen.show(state)
        do {
            switch state {
            case .idle, .asking: continue
            case .step(let step) where step.waitMilliseconds != nil: try await walk.wait()
            case .step(let step), .stalled(let step, _):
                guard let answer = await screen.answer(to: step) else { return }
                try await walk.next(answer)
            case .loggedIn, .completed, .failed: return
            }
        } catch is CancellationError {
            return
        } catch {
            // What went wrong is the next state: the same step, to be sent again, or the end. Only an answer to a step that the
            // walk has left has none.
            if (error as? JourneyError)?.code == .staleStep { throw error }
        }
    }
    // snippet.hide
}
