// Drive a user interface from a walk: it shows each state, and sends what the person enters.
import SignetCore
import SignetJourney

// snippet.hide
func show(_ journeys: Journey, _ screen: @escaping @Sendable (JourneyWalk.State) async -> JourneyStep?) async throws {
    // snippet.show
    let walk = JourneyWalk(journeys)
    let states = await walk.states()
    try await walk.start("Login")
    for await state in states {
        switch state {
        case .idle, .asking: continue
        case .step(let step) where step.waitMilliseconds != nil: try await walk.wait()
        case .step, .stalled:
            if let answer = await screen(state) { try? await walk.next(answer) }
        case .loggedIn, .passed, .failed:
            _ = await screen(state)
            return
        }
    }
    // snippet.hide
}
