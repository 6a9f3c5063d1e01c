/// The pauses between attempts to connect to a message bus: short after a loss, and twice as long each time, up to a minute.
struct ReconnectPause {
    /// The first pause.
    static let shortest = Duration.seconds(1)
    /// The longest pause.
    static let longest = Duration.seconds(60)
    /// The time that a connection lasts at least, so that the pauses after it begin with the shortest one.
    static let lasting = Duration.seconds(10)

    private var pause = shortest

    /// Returns the pause before the next attempt.
    /// - Parameter time: The time for which the last connection lasted; nil when the attempt to connect failed.
    /// - Returns: The pause.
    mutating func next(after time: Duration?) -> Duration {
        if let time, time >= Self.lasting { pause = Self.shortest }
        defer { pause = min(pause * 2, Self.longest) }
        return pause
    }
}
