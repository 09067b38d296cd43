"""
The kernels that Python calls, and with what: those the build makes machine code of.

The code of a kernel depends on the kinds of its arguments. They are written here in order, a
letter for the type and, for arrays, the number of dimensions:

    f  float64     s  float32     i  int64     h  int32     b  bool
    f  is a number,  f1  a vector of them,  f2  a matrix,  f2r  a matrix that may be read-only

Arrays are contiguous. The build fails where a kernel writes to what may be read-only. Kernels that
only other kernels call need no line. The tests fail where one is missing, and print it.

"""

LETTERS = {'float64': 'f', 'float32': 's', 'int64': 'i', 'int32': 'h', 'bool': 'b'}

ENTRIES = {
    'batch.solve_many': 'f2r f2 f2 f1 f2 f2 b i f3 f2 f2 f2 i1 i1',
    'braking.catching_up': 'f2 f1 f f f1',
    'braking.followable_share': 'f2 f1 f1 f',
    'braking.gentle_box': 'f2 f1 f2 f f f1 f1 f2',
    'braking.is_within': 'f2 f1',
    'braking.stopping_speed': 'f f f',
    'braking.take_step': 'f2 f1 f1 f2 f f2',
    'braking.velocity_bounds': 'f2 f1 f1 f f f f2',
    'cell_tree.build_tree': 'i1 f f2',
    'cell_tree.distance_to_cells': 'f2 i1 i1 f2 f f1 f2r f f i1 f2',
    'cell_tree.keys_of_points': 'f2 f i1',
    'chain_search.assess': 'f2r f2 f1 f2 f2 f1 f1 f1',
    'chain_search.find_nearest': 'f2r f2 f2 f2 f2 b f1 f1 f1 f1 f1',
    'chain_search.read': 'f2 f1 f2 f2 f1 f1 f1 f1',
    'chain_search.search': 'f2r f2 f2 f2 f2 b f1 f1 i i f1 f1',
    'chain_search.solve': 'f2r f2 f2 f1 f2 f2 b i f2 f1 f1',
    'curve.curve_at': 'f2 f2 f1 i f f2',
    'curve.fill_speeds': 'f2r f1 f2 f2 f2 f1 f f f f f f1 f2 f2 f2 f2',
    'curve.nearest_place': 'f2 f2 f1 f1 i f2',
    'curve.next_speed': 'f2 f2 f2 f1 f2 f f f f i f2',
    'curve.segment_at': 'f1 f i',
    'curve.straight_until': 'f2 i f f',
    'curve.write_stop': 'f2 f2 f2 f1 f2 f f f i f1 f2 f2',
    'displacement.displacements_between': 'f3 f3 f f f2 f2',
    'displacement.moved_poses': 'f3 f2 f f f2 f3',
    'displacement.path_to_newest': 'f1 f1 f2 f1 f f1',
    'displacement.size_of': 'f1',
    'edge_checks.near_on_edge': (
        'f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 f1 i1 f1r f1r b1 f f f1 f2 f2 f2 f2 f2 i1 f2'
    ),
    'frames.rotation_onto': 'f f f f f f',
    'free_edges.first_near': (
        'f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f1r f f1r f1r f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'free_edges.free_share': (
        'f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f1r f f1r f1r f1 f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'free_edges.is_curve_free': (
        'f2 f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f2 f2 f f2 f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'free_edges.is_edge_free': (
        'f1r f1r f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f2 f2 f f2 f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'free_edges.piece_of_edge': 'f2 f1r f1r i',
    'kinematics.joint_and_link_frames': 'f2r f1 f2 f2',
    'kinematics.joint_centres': 'f2r f1 f1 f2',
    'kinematics.tip_pose': 'f2r f1 f1 f2',
    'limits.narrow': 'f2 f1 f1 f2',
    'limits.narrow_around': 'f2 f1 f1 f2',
    'line_speed.followable': 'f1 f1 f1 f f f f f1 f1',
    'line_speed.speed_along_filtered_path': 'f1 f2 f1 f1 f f f f f f f1',
    'nearest_velocity.nearest_velocity': 'f2 f1 f2 f1 f1 i1 f2 f2 f1',
    'pair_bounds.are_apart': 'f1 f2 f2 f1 f1 f1',
    'pair_bounds.box_around': 'f2 f2',
    'pair_bounds.distance_bounds': 'f1 f2 f2 i1 f1 f1 f1',
    'pair_bounds.find_undecided': 'f1 f2 f2 i1 f1 f1 f1 i1',
    'point_binning.bin_points': 's2 f1 f i1 h1 i1 h1',
    'point_binning.find_outermost': 's2 f1 h1 f2 f1 h1',
    'point_speeds.joint_path_speed': 'f2r f1 f2 f1 f1 f1 f f f f f f2 f2 f2 f1',
    'point_speeds.largest_share': 'f2r f1 f1 f1 f2 f2',
    'point_speeds.share_along': 'f2r f1 f1 f1 f f f f f f2 f2 f1',
    'posture.ease': 'f2r f2 f2 f2 f2 f1 f1 f1 f f1 f1',
    'range_image.draw_ranges': 's2 s1',
    'range_image.note_looked_through': 'i1 f f1 s1 f1 b1',
    'reaching.clamp_turn': 'f f f f',
    'robot_shadow.note_covered': 'f2 i2 i1 f1 f2 f2 i1 f f1 f f2 b1',
    'robot_shadow.note_outward_directions': 'f2 i2 i1 f1 f2 f2 f2 i1 i1 f f f2 f2',
    'robot_shadow.note_points_of_others': 'f2 i2 i1 f1 f2 f2 s2 f1 h1 f f2 b1',
    'rounding.parabola': 'f1r f1r f1r f f f2',
    'rrt_connect.conclude': 'f3 i2 i1 f2 b',
    'rrt_connect.grow': (
        'f1r f1r f1r f f2 f3 i2 i1 f2 i '
        'f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f2 f2 f f2 f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'rrt_connect.propose': 'f1r f1r f1r f f2 f3 i1 f2',
    'search.scatter': 'i f1 f1 f1',
    'shortcuts.conclude': 'f2 i1 f2 b',
    'shortcuts.is_over': 'f2 i1',
    'shortcuts.propose': 'f2 f1r f2 b2 i1 f2',
    'shortcuts.shorten': (
        'f2 f1r f2 b2 i1 f2 i '
        'f2r f1 f2 f2 f2 f2 i2 i2 i1 f2 f1 f2r i2 f2 i1 f2 f2 f f2 f2 f2 f2 f2 f2 i1 f2 i1'
    ),
    'target.read_target': 'f2 f1 f f1 f1',
    'target_windows.find_windows': 'f1 f2 f f f f1 f1 f1 f1',
    'target_windows.grow_older': 'f f1 f1 f1',
    'tree_kinematics.tip_poses': 'f2r f1 f2 f3',
    'tree_kinematics.tree_link_frames': 'f2r f1 f2',
    'tree_search.assess': 'f2r f2 f2 f2 f2 f2 f1 f1 f2',
    'tree_search.find_nearest': 'f2r f2 f3 f2 f2 f2 b f1 f1 f1 f2',
    'tree_search.search': 'f2r f2 f3 f2 f2 f2 b i i f1 f1 f2',
    'tree_search.solve': 'f2r f2 f3 f2 f1 f2 f2 f2 b i f3 f1 f1 f1 f2',
}
